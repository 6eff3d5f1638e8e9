//! Reads the subset of Python's regular expressions. `None` is "Python refuses this, or it is not in the
//! subset"; callers don't need to distinguish the two.

use super::{Item, Kind, Node};

const MAX_GROUPS: usize = 32;
const MAX_REPEAT: usize = 10_000;

pub fn parse(source: &str) -> Option<Node> {
    let characters: Vec<char> = source.chars().collect();
    let mut reader = Reader { characters: &characters, place: 0, groups: 0 };
    let node = reader.parse_alternatives()?;
    (reader.place == characters.len()).then_some(node)
}

struct Reader<'c> {
    characters: &'c [char],
    place: usize,
    /// How many groups are open.
    groups: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.place).copied()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.place += 1;
        Some(character)
    }

    fn take_if_next(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.place += usize::from(found);
        found
    }

    fn parse_alternatives(&mut self) -> Option<Node> {
        let mut branches = vec![self.parse_sequence()?];
        while self.take_if_next('|') {
            branches.push(self.parse_sequence()?);
        }
        Some(Node::Either(branches))
    }

    fn parse_sequence(&mut self) -> Option<Node> {
        let mut nodes = Vec::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            let node = self.parse_atom()?;
            nodes.push(self.parse_repeat(node)?);
        }
        Some(Node::Sequence(nodes))
    }

    fn parse_atom(&mut self) -> Option<Node> {
        match self.next()? {
            '^' => Some(Node::Start),
            '$' => Some(Node::End),
            '.' => Some(Node::Set { negated: true, items: vec![Item::Range('\n', '\n')] }),
            '(' => self.parse_group(),
            '[' => self.parse_set(),
            '\\' => self.parse_escape(),
            '*' | '+' | '?' => None,
            '{' if self.parse_counts().is_some() => None,
            character => Some(Node::Char(character)),
        }
    }

    fn parse_group(&mut self) -> Option<Node> {
        if self.take_if_next('?') && !self.take_if_next(':') {
            return None;
        }
        self.groups += 1;
        let node = (self.groups <= MAX_GROUPS).then(|| self.parse_alternatives())??;
        self.groups -= 1;
        self.take_if_next(')').then_some(node)
    }

    fn parse_repeat(&mut self, node: Node) -> Option<Node> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.place += 1;
                let Some(counts) = self.parse_counts() else {
                    // An opening brace that begins no count is itself.
                    self.place -= 1;
                    return Some(node);
                };
                self.place -= 1;
                counts
            }
            _ => return Some(node),
        };
        self.place += 1;
        let _lazy = self.take_if_next('?');
        let again = matches!(self.peek(), Some('*' | '+' | '?')) || self.counts_follow();
        let repeatable = !matches!(node, Node::Start | Node::End | Node::VeryEnd | Node::Edge);
        let fits = least <= MAX_REPEAT && most.is_none_or(|most| least <= most && most <= MAX_REPEAT);
        let node = Box::new(node);
        (repeatable && fits && !again).then_some(Node::Repeat { node, least, most })
    }

    fn counts_follow(&mut self) -> bool {
        let place = self.place;
        let follow = self.take_if_next('{') && self.parse_counts().is_some();
        self.place = place;
        follow
    }

    /// What is between braces, the closing one included; stays in place if that is no count.
    fn parse_counts(&mut self) -> Option<(usize, Option<usize>)> {
        let place = self.place;
        let counts = self.counts_or_lost();
        if counts.is_none() {
            self.place = place;
        }
        counts
    }

    fn counts_or_lost(&mut self) -> Option<(usize, Option<usize>)> {
        if self.peek() == Some('}') {
            return None;
        }
        let least = self.parse_digits();
        let most = if self.take_if_next(',') { self.parse_digits() } else { least };
        let counts = (least.unwrap_or(0), most);
        self.take_if_next('}').then_some(counts)
    }

    /// A number, if there is one. One that is too large stays too large.
    fn parse_digits(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.place += 1;
            number = Some(number.unwrap_or(0usize).saturating_mul(10).saturating_add(digit as usize));
        }
        number
    }

    fn parse_set(&mut self) -> Option<Node> {
        let negated = self.take_if_next('^');
        let mut items = Vec::new();
        loop {
            let first = match self.next()? {
                ']' if !items.is_empty() => return Some(Node::Set { negated, items }),
                '\\' => self.set_escape()?,
                character => Item::Range(character, character),
            };
            if self.peek() != Some('-') || self.characters.get(self.place + 1) == Some(&']') {
                items.push(first);
                continue;
            }
            self.place += 1;
            let last = match self.next()? {
                '\\' => self.set_escape()?,
                character => Item::Range(character, character),
            };
            match (first, last) {
                (Item::Range(low, _), Item::Range(high, _)) if low <= high => items.push(Item::Range(low, high)),
                _ => return None,
            }
        }
    }

    fn set_escape(&mut self) -> Option<Item> {
        let escaped = self.next()?;
        if escaped == 'b' {
            return Some(Item::Range('\x08', '\x08'));
        }
        class_escape(escaped).or_else(|| self.escaped_character(escaped).map(|c| Item::Range(c, c)))
    }

    fn parse_escape(&mut self) -> Option<Node> {
        match self.next()? {
            'A' => Some(Node::Start),
            'Z' => Some(Node::VeryEnd),
            'b' => Some(Node::Edge),
            escaped => match class_escape(escaped) {
                Some(kind) => Some(Node::Set { negated: false, items: vec![kind] }),
                None => self.escaped_character(escaped).map(Node::Char),
            },
        }
    }

    fn escaped_character(&mut self, escaped: char) -> Option<char> {
        match escaped {
            'a' => Some('\x07'),
            'f' => Some('\x0c'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\x0b'),
            'x' => self.parse_code_point(2),
            'u' => self.parse_code_point(4),
            'U' => self.parse_code_point(8),
            _ if escaped.is_ascii_alphanumeric() => None,
            _ => Some(escaped),
        }
    }

    fn parse_code_point(&mut self, digits: usize) -> Option<char> {
        let code = (0..digits).try_fold(0, |code: u32, _| Some(code.checked_mul(16)? + self.next()?.to_digit(16)?))?;
        char::from_u32(code)
    }
}

fn class_escape(escaped: char) -> Option<Item> {
    let kind = match escaped.to_ascii_lowercase() {
        'd' => Kind::Digit,
        's' => Kind::Space,
        'w' => Kind::Word,
        _ => return None,
    };
    Some(Item::Kind { kind, negated: escaped.is_ascii_uppercase() })
}
