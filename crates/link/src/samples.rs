//! Programs
