//! Which of many faults speaks: jsonschema's `best_match`.
//!
//! Faults are not gathered, they compete as they are found, and the message is only worded for the one that
//! is kept. At the top the most relevant wins, the first of equals. Below `anyOf` and `oneOf` it is the other
//! way round: the least relevant fault, as a rule the deepest, speaks for the whole, unless two tie.

use super::{Doubt, Stop};
use std::cmp::Reverse;
use std::fmt;

/// One step into the params.
#[derive(Clone, Copy)]
pub enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// How relevant a fault is. The order of the fields is the order of their weight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// How deep in the params, seen from where the competition began.
    pub depth: Reverse<usize>,
    /// It is not `anyOf` or `oneOf` that complains.
    pub is_strong: bool,
    /// The value does not even have the type that the schema wants.
    pub is_mistyped: bool,
}

/// The words of a message, still to be put together.
pub type Words<'a> = Box<dyn FnOnce() -> Result<String, Doubt> + 'a>;

/// One thing that is wrong with the params.
pub struct Fault<'a> {
    pub path: Vec<Step<'a>>,
    pub words: Words<'a>,
}

impl Fault<'_> {
    /// The path as Skillware prints it. A key that is empty text leaves nothing to print, also there.
    pub fn dotted_path(&self) -> String {
        let steps: Vec<_> = self.path.iter().map(Step::to_string).collect();
        let dotted = steps.join(".");
        if dotted.is_empty() { "(root)".into() } else { dotted }
    }

    pub fn message(self) -> Result<String, Doubt> {
        (self.words)()
    }
}

/// What a competition is for.
#[derive(Clone, Copy)]
enum Aim {
    /// To know whether there is a fault at all.
    Any,
    MostRelevant,
    /// The two least relevant ones.
    LeastRelevant,
}

/// A competition between faults.
pub struct Faults<'a> {
    aim: Aim,
    /// The length of the path where it began.
    pub floor: usize,
    pub seen: usize,
    kept: Vec<(Rank, Fault<'a>)>,
}

impl<'a> Faults<'a> {
    fn new(aim: Aim, floor: usize) -> Self {
        let kept = Vec::new();
        Self { aim, floor, seen: 0, kept }
    }

    pub fn any() -> Self {
        Self::new(Aim::Any, 0)
    }

    pub fn most_relevant() -> Self {
        Self::new(Aim::MostRelevant, 0)
    }

    pub fn least_relevant(floor: usize) -> Self {
        Self::new(Aim::LeastRelevant, floor)
    }

    /// Enters a fault, which is only made if it is kept.
    pub fn enter(&mut self, rank: Rank, fault: impl FnOnce() -> Fault<'a>) -> Result<(), Stop> {
        self.seen += 1;
        match self.aim {
            Aim::Any => return Err(Stop::Found),
            Aim::MostRelevant => {
                if self.kept.first().is_none_or(|(best, _)| rank > *best) {
                    self.kept = vec![(rank, fault())];
                }
            }
            Aim::LeastRelevant => {
                let place = self.kept.iter().position(|(kept, _)| rank < *kept);
                let place = place.unwrap_or(self.kept.len());
                if place < 2 {
                    self.kept.insert(place, (rank, fault()));
                    self.kept.truncate(2);
                }
            }
        }
        Ok(())
    }

    /// The winner, unless another fault is its equal.
    pub fn unrivalled(mut self) -> Option<Fault<'a>> {
        let second = self.kept.pop();
        match self.kept.pop() {
            None => second.map(|(_, only)| only),
            Some((rank, _)) if second.is_some_and(|(other, _)| other == rank) => None,
            Some((_, first)) => Some(first),
        }
    }
}
