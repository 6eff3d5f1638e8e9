//! What looks at skills and calls, and is built on the host: what a skill needs (`analysis`), the study of a registry
//! (`matrix`), the same calls in each tier (`compare`), and measuring (`bench`). No call goes through here.

pub mod analysis;
pub mod bench;
pub mod compare;
pub mod matrix;
