//! Writes an expression for the `regex` crate, which differs from Python in what a word or a space is, in
//! `$`, and in what needs escaping.

use super::{Alphabet, Item, Kind, Node};
use std::fmt::Write;

/// The expression, and about how many states it makes. `None` if it can't be said there.
pub fn translate(node: &Node, alphabet: Alphabet) -> Option<(String, usize)> {
    let mut writer = Writer { out: String::new(), alphabet };
    let weight = writer.write_node(node, true)?;
    Some((writer.out, weight))
}

struct Writer {
    out: String,
    alphabet: Alphabet,
}

impl Writer {
    /// `is_last` says that nothing can be matched after this node: only there may Python's `$`, which looks
    /// past a newline, be written as one that takes it.
    fn write_node(&mut self, node: &Node, is_last: bool) -> Option<usize> {
        match node {
            Node::Char(character) => self.write_character(*character),
            Node::Set { negated, items } => self.write_set(*negated, items),
            Node::Start => self.write_text(r"\A"),
            Node::End if is_last => self.write_text(r"(?:\x0a?\z)"),
            Node::End => None,
            Node::VeryEnd => self.write_text(r"\z"),
            Node::Edge if self.alphabet == Alphabet::Ascii => self.write_text(r"\b"),
            Node::Edge => None,
            Node::Sequence(nodes) => {
                let last = nodes.len().saturating_sub(1);
                let mut weights = nodes.iter().enumerate();
                weights.try_fold(1, |sum: usize, (place, node)| {
                    Some(sum.saturating_add(self.write_node(node, is_last && place == last)?))
                })
            }
            Node::Either(branches) => self.write_alternatives(branches, is_last),
            Node::Repeat { node, least, most } => self.write_repeat(node, *least, *most),
        }
    }

    fn write_text(&mut self, text: &str) -> Option<usize> {
        self.out.push_str(text);
        Some(1)
    }

    fn write_character(&mut self, character: char) -> Option<usize> {
        write!(self.out, r"\x{{{:x}}}", u32::from(character)).ok()?;
        Some(character.len_utf8())
    }

    fn write_alternatives(&mut self, branches: &[Node], is_last: bool) -> Option<usize> {
        self.out.push_str("(?:");
        let mut weight: usize = 1;
        for (place, branch) in branches.iter().enumerate() {
            self.out.push_str(if place > 0 { "|" } else { "" });
            weight = weight.saturating_add(self.write_node(branch, is_last)?);
        }
        self.out.push(')');
        Some(weight)
    }

    fn write_repeat(&mut self, node: &Node, least: usize, most: Option<usize>) -> Option<usize> {
        self.out.push_str("(?:");
        let weight = self.write_node(node, false)?;
        match most {
            Some(most) => write!(self.out, "){{{least},{most}}}").ok()?,
            None => write!(self.out, "){{{least},}}").ok()?,
        }
        let copies = most.unwrap_or(least).max(least).saturating_add(1);
        Some(weight.saturating_mul(copies))
    }

    fn write_set(&mut self, negated: bool, items: &[Item]) -> Option<usize> {
        self.out.push_str(if negated { "[[^" } else { "[[" });
        let mut weight = if self.alphabet == Alphabet::Ascii { 1 } else { 8 };
        for item in items {
            match item {
                Item::Range(low, high) => {
                    self.write_character(*low)?;
                    self.out.push('-');
                    weight += self.write_character(*high)?;
                }
                Item::Kind { kind, negated } => {
                    self.out.push_str(if *negated { "[^" } else { "[" });
                    self.out.push_str(class_members(*kind, self.alphabet));
                    self.out.push(']');
                    weight += kind_weight(*kind, self.alphabet);
                }
            }
        }
        // What an ASCII text can't hold needs no states.
        self.out.push_str(match self.alphabet {
            Alphabet::Ascii => r"]&&[\x00-\x7f]]",
            Alphabet::Unicode => "]]",
        });
        Some(weight)
    }
}

/// Python's own idea of each kind: a word character is any letter or number, and the four ASCII separators
/// are spaces.
fn class_members(kind: Kind, alphabet: Alphabet) -> &'static str {
    match (kind, alphabet) {
        (Kind::Digit, Alphabet::Ascii) => "0-9",
        (Kind::Digit, Alphabet::Unicode) => r"\p{Nd}",
        (Kind::Space, Alphabet::Ascii) => r"\x09-\x0d\x1c-\x20",
        (Kind::Space, Alphabet::Unicode) => r"\s\x1c-\x1f",
        (Kind::Word, Alphabet::Ascii) => "0-9A-Za-z_",
        (Kind::Word, Alphabet::Unicode) => r"\p{L}\p{N}_",
    }
}

fn kind_weight(kind: Kind, alphabet: Alphabet) -> usize {
    match (kind, alphabet) {
        (_, Alphabet::Ascii) => 4,
        (Kind::Space, Alphabet::Unicode) => 16,
        (Kind::Digit, Alphabet::Unicode) => 100,
        (Kind::Word, Alphabet::Unicode) => 400,
    }
}
