//! Keywords that judge a value as a whole: its type, its size, what it equals.

use super::list;
use crate::schema::Doubt;
use crate::schema::datum::{Bools, Datum};
use crate::schema::draft::Draft;
use crate::schema::faults::Faults;
use crate::schema::number::Num;
use crate::schema::repr::{repr, reprs};
use crate::schema::walk::{Flow, Site, Walk};
use serde_json::Value;
use std::cmp::Ordering;

impl<'a> Walk<'a> {
    pub(super) fn of_type(&mut self, types: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        if self.has_type(types, at.datum) {
            return Ok(());
        }
        self.fault(at, faults, move || {
            let names = types.as_array().map_or(std::slice::from_ref(types), Vec::as_slice);
            Ok(format!("{} is not of type {}", repr(at.datum)?, reprs(names)?))
        })
    }

    pub(super) fn one_of_values(&mut self, values: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        // jsonschema tells booleans from numbers only when the value itself is one of the four confusable
        // ones: an item `[true]` still equals `[1]`.
        let zero_or_one = match at.datum {
            Datum::Bool(_) => true,
            Datum::Number(number) => [0, 1].map(Num::count).iter().any(|bit| equal(&Num::of(number), bit)),
            _ => false,
        };
        let bools = if zero_or_one { Bools::AreApart } else { Bools::AreNumbers };
        for value in list(values) {
            if at.datum.equals(value.into(), bools, &mut self.steps)? {
                return Ok(());
            }
        }
        self.fault(at, faults, move || Ok(format!("{} is not one of {}", repr(at.datum)?, repr(values)?)))
    }

    pub(super) fn this_value(&mut self, value: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        if at.datum.equals(value.into(), Bools::AreApart, &mut self.steps)? {
            return Ok(());
        }
        self.fault(at, faults, move || Ok(format!("{} was expected", repr(value)?)))
    }

    /// All four bounds; `low` for the lower ones. In draft 4 whether a bound is exclusive is a keyword beside it.
    pub(super) fn bound(
        &mut self,
        low: bool,
        exclusive: bool,
        limit: &'a Value,
        at: Site<'a>,
        faults: &mut Faults<'a>,
    ) -> Flow {
        let (Datum::Number(number), Value::Number(limit)) = (at.datum, limit) else {
            return Ok(());
        };
        self.steps.spend(Datum::Number(limit).weight())?;
        let beside = if low { "exclusiveMinimum" } else { "exclusiveMaximum" };
        let beside = at.schema.get(beside).and_then(Value::as_bool).unwrap_or(false);
        let exclusive = exclusive || (self.draft == Draft::Four && beside);
        let order = Num::of(number).compare(&Num::of(limit));
        let beyond = if low { Ordering::Less } else { Ordering::Greater };
        if order != Some(beyond) && !(exclusive && order == Some(Ordering::Equal)) {
            return Ok(());
        }
        self.fault(at, faults, move || {
            let side = if low { "less than" } else { "greater than" };
            let side = format!("{side}{}", if exclusive { " or equal to" } else { "" });
            let bound = if low { "minimum" } else { "maximum" };
            Ok(format!("{} is {side} the {bound} of {}", Num::of(number), Num::of(limit)))
        })
    }

    pub(super) fn multiple_of(&mut self, step: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let (Datum::Number(number), Value::Number(step)) = (at.datum, step) else {
            return Ok(());
        };
        self.steps.spend(Datum::Number(step).weight())?;
        let verdict = Num::of(number).is_multiple_of(&Num::of(step));
        if verdict.ok_or(Doubt::Breaks("multipleOf"))? {
            return Ok(());
        }
        self.fault(at, faults, move || Ok(format!("{} is not a multiple of {}", Num::of(number), Num::of(step))))
    }

    pub(super) fn at_least(&mut self, name: &str, limit: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let short = if name == "minProperties" { "does not have enough properties" } else { "is too short" };
        self.size(&name[3..], (Ordering::Less, short), limit, at, faults)
    }

    pub(super) fn at_most(&mut self, name: &str, limit: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let long = if name == "maxProperties" { "has too many properties" } else { "is too long" };
        self.size(&name[3..], (Ordering::Greater, long), limit, at, faults)
    }

    fn size(
        &mut self,
        of: &str,
        (wrong, words): (Ordering, &'static str),
        limit: &'a Value,
        at: Site<'a>,
        faults: &mut Faults<'a>,
    ) -> Flow {
        let size = match (of, at.datum) {
            ("Length", Datum::Text(text)) => text.chars().count(),
            ("Items", Datum::List(items)) => items.len(),
            ("Properties", Datum::Dict(members)) => members.len(),
            _ => return Ok(()),
        };
        let order = limit.as_number().and_then(|limit| Num::count(size).compare(&Num::of(limit)));
        if order != Some(wrong) {
            return Ok(());
        }
        self.fault(at, faults, move || Ok(format!("{} {words}", repr(at.datum)?)))
    }

    pub(super) fn text_pattern(&mut self, pattern: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let (Datum::Text(text), Value::String(source)) = (at.datum, pattern) else {
            return Ok(());
        };
        if self.search(source, text)? {
            return Ok(());
        }
        self.fault(at, faults, move || Ok(format!("{} does not match {}", repr(at.datum)?, repr(pattern)?)))
    }
}

fn equal(one: &Num, two: &Num) -> bool {
    one.compare(two) == Some(Ordering::Equal)
}
