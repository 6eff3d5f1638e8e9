//! Python's `re.search` as a yes or no, for the expressions that mean the same in both engines: no
//! look-around, back-references, flags, names or possessive repeats. Since only "is there a match" is asked,
//! greedy and lazy, captured and not, are all one.

mod parse;
mod translate;

use super::{Doubt, Steps};
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::sync::LazyLock;

static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Age:14.0}*$").ok());

const MAX_SOURCE_BYTES: usize = 10_000;
const MAX_WEIGHT: usize = 20_000;
/// A backstop: the weight of an expression bounds it first.
const MAX_COMPILED_BYTES: usize = 2 << 20;
/// What compiling costs besides the weight, in memory more than in time.
const COMPILE_STEPS: usize = 2_000;
/// How many bytes × states one step of the budget stands for.
const PER_STEP: usize = 16;

/// A piece of an expression.
enum Node {
    Char(char),
    Set {
        negated: bool,
        items: Vec<Item>,
    },
    /// `^` and `\A`
    Start,
    /// `$`: at the end, or before a newline at the end
    End,
    /// `\Z`
    VeryEnd,
    /// `\b`
    Edge,
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat {
        node: Box<Node>,
        least: usize,
        most: Option<usize>,
    },
}

/// A member of a set.
enum Item {
    Range(char, char),
    Kind { kind: Kind, negated: bool },
}

#[derive(Clone, Copy)]
enum Kind {
    Digit,
    Space,
    Word,
}

/// Which texts a translation is for: those of ASCII alone make far smaller machines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Ascii,
    Unicode,
}

/// An expression that Python accepts, too.
pub struct Pattern {
    node: Node,
    ascii: Option<Machine>,
    unicode: Option<Machine>,
}

struct Machine {
    regex: Regex,
    weight: usize,
}

impl Pattern {
    pub fn parse(source: &str) -> Result<Self, Doubt> {
        let short = (source.len() <= MAX_SOURCE_BYTES).then_some(source);
        let node = short.and_then(parse::parse).ok_or(Doubt)?;
        Ok(Self { node, ascii: None, unicode: None })
    }

    fn search(&mut self, text: &str, steps: &mut Steps) -> Result<bool, Doubt> {
        if !is_well_known(text) {
            return Err(Doubt);
        }
        let alphabet = if text.is_ascii() { Alphabet::Ascii } else { Alphabet::Unicode };
        let machine = self.compiled_for(alphabet, steps)?;
        steps.spend(1 + text.len().saturating_mul(machine.weight) / PER_STEP)?;
        Ok(machine.regex.is_match(text))
    }

    fn compiled_for(&mut self, alphabet: Alphabet, steps: &mut Steps) -> Result<&Machine, Doubt> {
        let slot = match alphabet {
            Alphabet::Ascii => &mut self.ascii,
            Alphabet::Unicode => &mut self.unicode,
        };
        if slot.is_none() {
            let (text, weight) = translate::translate(&self.node, alphabet).ok_or(Doubt)?;
            if weight > MAX_WEIGHT {
                return Err(Doubt);
            }
            steps.spend(COMPILE_STEPS + 4 * weight)?;
            let regex = RegexBuilder::new(&text).size_limit(MAX_COMPILED_BYTES).build();
            *slot = Some(Machine { regex: regex.map_err(|_| Doubt)?, weight });
        }
        slot.as_ref().ok_or(Doubt)
    }
}

/// The expressions met in one check.
#[derive(Default)]
pub struct Patterns<'a> {
    known: HashMap<&'a str, Pattern>,
}

impl<'a> Patterns<'a> {
    pub fn search(&mut self, source: &'a str, text: &str, steps: &mut Steps) -> Result<bool, Doubt> {
        steps.spend(1 + source.len() / 64)?;
        if !self.known.contains_key(source) {
            self.known.insert(source, Pattern::parse(source)?);
        }
        let pattern = self.known.get_mut(source).ok_or(Doubt)?;
        pattern.search(text, steps)
    }
}

/// Whether every character has been in Unicode since version 14, the oldest that a guest may have: of newer ones, two
/// Pythons may think differently.
fn is_well_known(text: &str) -> bool {
    text.is_ascii() || ASSIGNED.as_ref().is_some_and(|assigned| assigned.is_match(text))
}
