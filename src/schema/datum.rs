//! A JSON value as jsonschema sees it in Python: its type names, its two equalities and its order.
//!
//! In Python `True == 1` and `False == 0`. jsonschema keeps them apart in some places only, so equality
//! takes a [`Bools`].

use super::number::Num;
use super::{Doubt, Steps, draft::Draft};
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;

/// A value or a property's name: a view that copies nothing.
#[derive(Clone, Copy)]
pub enum Datum<'a> {
    Null,
    Bool(bool),
    Number(&'a Number),
    Text(&'a str),
    List(&'a [Value]),
    Dict(&'a Map<String, Value>),
}

/// Whether booleans equal the numbers 0 and 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bools {
    AreNumbers,
    AreApart,
}

impl<'a> From<&'a Value> for Datum<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items),
            Value::Object(members) => Self::Dict(members),
        }
    }
}

impl<'a> Datum<'a> {
    pub fn is_type(self, name: &str, draft: Draft) -> bool {
        match (name, self) {
            ("null", Self::Null)
            | ("boolean", Self::Bool(_))
            | ("number", Self::Number(_))
            | ("string", Self::Text(_))
            | ("array", Self::List(_))
            | ("object", Self::Dict(_)) => true,
            ("integer", Self::Number(number)) => match Num::of(number) {
                Num::Int { .. } => true,
                Num::Float(float) => draft > Draft::Four && float.is_finite() && float.fract() == 0.0,
            },
            _ => false,
        }
    }

    fn number(self, bools: Bools) -> Option<Num<'a>> {
        match self {
            Self::Number(number) => Some(Num::of(number)),
            Self::Bool(truth) if bools == Bools::AreNumbers => Some(Num::count(truth.into())),
            _ => None,
        }
    }

    /// Roughly what one look at the whole of this value costs, apart from what is inside it.
    pub fn weight(self) -> usize {
        match self {
            // A double is cheap; longer digits may need exact work.
            Self::Number(number) if number.as_str().len() > 20 => number.as_str().len(),
            Self::Text(text) => 1 + text.len() / 64,
            _ => 1,
        }
    }

    pub fn equals(self, other: Self, bools: Bools, steps: &mut Steps) -> Result<bool, Doubt> {
        steps.spend(self.weight().max(other.weight()))?;
        match (self, other) {
            (Self::Null, Self::Null) => Ok(true),
            (Self::Bool(one), Self::Bool(two)) => Ok(one == two),
            (Self::Text(one), Self::Text(two)) => Ok(one == two),
            (Self::List(one), Self::List(two)) => lists_equal(one, two, bools, steps),
            (Self::Dict(one), Self::Dict(two)) => dicts_equal(one, two, bools, steps),
            _ => {
                let pair = self.number(bools).zip(other.number(bools));
                Ok(pair.is_some_and(|(one, two)| one.compare(&two) == Some(Ordering::Equal)))
            }
        }
    }

    /// Python's `self < other`; `None` where Python raises a TypeError.
    fn less(self, other: Self, steps: &mut Steps) -> Result<Option<bool>, Doubt> {
        steps.spend(self.weight().max(other.weight()))?;
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => Ok(Some(one < two)),
            (Self::List(one), Self::List(two)) => {
                for (left, right) in one.iter().zip(two).map(|(l, r)| (Self::from(l), r.into())) {
                    if !left.equals(right, Bools::AreNumbers, steps)? {
                        return left.less(right, steps);
                    }
                }
                Ok(Some(one.len() < two.len()))
            }
            _ => {
                let one = self.number(Bools::AreNumbers);
                let pair = one.zip(other.number(Bools::AreNumbers));
                Ok(pair.map(|(one, two)| one.compare(&two) == Some(Ordering::Less)))
            }
        }
    }
}

fn lists_equal(one: &[Value], two: &[Value], bools: Bools, steps: &mut Steps) -> Result<bool, Doubt> {
    if one.len() != two.len() {
        return Ok(false);
    }
    for (left, right) in one.iter().zip(two) {
        if !Datum::from(left).equals(right.into(), bools, steps)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn dicts_equal(
    one: &Map<String, Value>,
    two: &Map<String, Value>,
    bools: Bools,
    steps: &mut Steps,
) -> Result<bool, Doubt> {
    if one.len() != two.len() {
        return Ok(false);
    }
    for (key, left) in one {
        steps.spend(Datum::Text(key).weight())?;
        let Some(right) = two.get(key) else {
            return Ok(false);
        };
        if !Datum::from(left).equals(right.into(), bools, steps)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Python's `sorted`; `None` where it raises a TypeError. The standard sort won't do: it may panic when a
/// comparison has no answer.
pub fn sorted<'a>(items: &'a [Value], steps: &mut Steps) -> Result<Option<Vec<Datum<'a>>>, Doubt> {
    if items.len() < 2 {
        return Ok(Some(items.iter().map(Datum::from).collect()));
    }
    let (left, right) = items.split_at(items.len() / 2);
    let (Some(left), Some(right)) = (sorted(left, steps)?, sorted(right, steps)?) else {
        return Ok(None);
    };
    let mut merged = Vec::with_capacity(items.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(one), Some(two)) = (left.peek(), right.peek()) {
        match two.less(*one, steps)? {
            None => return Ok(None),
            Some(true) => merged.extend(right.next()),
            Some(false) => merged.extend(left.next()),
        }
    }
    merged.extend(left.chain(right));
    Ok(Some(merged))
}

/// Whether jsonschema takes all items for different. It looks at neighbours after sorting, where it can
/// sort, and so overlooks `[[1], [true], [1]]`.
pub fn is_unique(items: &[Value], steps: &mut Steps) -> Result<bool, Doubt> {
    let sortable = items.len() < 2 || !items.iter().any(Value::is_boolean);
    if sortable && let Some(sorted) = sorted(items, steps)? {
        for pair in sorted.windows(2) {
            if pair[0].equals(pair[1], Bools::AreApart, steps)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    for (count, item) in items.iter().enumerate() {
        for earlier in &items[..count] {
            if Datum::from(earlier).equals(item.into(), Bools::AreApart, steps)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
