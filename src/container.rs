//! The container tier.

mod engine;
mod process;

pub use engine::{Engine, Kind, NoEngine};

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn probe() { println!("{:?}", Engine::find()); }
}
