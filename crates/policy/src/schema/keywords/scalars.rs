//! Keywords that judge a value as a whole: its size, what it equals.

use crate::schema::Doubt;
use crate::schema::draft::Draft;
use crate::schema::number::Num;
use crate::schema::values::values_equal;
use crate::schema::walk::{Verdict, Walk};
use serde_json::Value;
use std::cmp::Ordering;

impl<'a> Walk<'a> {
    /// One that is equal for sure is enough; without one, all have to be different for sure.
    pub(super) fn one_of_values(&mut self, allowed: &[Value], value: &Value) -> Verdict {
        let mut verdict = Ok(false);
        for each in allowed {
            match values_equal(each, value, &mut self.steps) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(doubt) => verdict = Err(doubt),
            }
        }
        verdict
    }

    pub(super) fn this_value(&mut self, wanted: &Value, value: &Value) -> Verdict {
        values_equal(wanted, value, &mut self.steps)
    }

    /// `minimum` and `maximum`; `wrong` is the side that is out of bounds. In draft 4 whether a bound is exclusive is a
    /// keyword `beside` it.
    pub(super) fn is_within_bound(
        &self,
        limit: &Value,
        wrong: Ordering,
        beside: Option<&Value>,
        value: &Value,
    ) -> bool {
        let exclusive = self.draft == Draft::Four && beside == Some(&Value::Bool(true));
        match compare_numbers(value, limit) {
            Some(Ordering::Equal) => !exclusive,
            order => order != Some(wrong),
        }
    }

    pub(super) fn text_pattern(&mut self, pattern: &'a Value, value: &Value) -> Verdict {
        match (pattern, value) {
            (Value::String(source), Value::String(text)) => self.search_pattern(source, text),
            _ => Ok(true),
        }
    }
}

/// `exclusiveMinimum` and `exclusiveMaximum`: a number has to be on the `right` side.
pub(super) fn is_beyond_bound(limit: &Value, right: Ordering, value: &Value) -> bool {
    !value.is_number() || compare_numbers(value, limit) == Some(right)
}

/// How two values compare, if both are numbers.
fn compare_numbers(value: &Value, limit: &Value) -> Option<Ordering> {
    let (value, limit) = value.as_number().zip(limit.as_number())?;
    Num::from_json(value).compare(Num::from_json(limit))
}

pub(super) fn multiple_of(step: &Value, value: &Value) -> Verdict {
    let Some((value, step)) = value.as_number().zip(step.as_number()) else {
        return Ok(true);
    };
    Num::from_json(value).is_multiple_of(Num::from_json(step)).ok_or(Doubt)
}

/// All keywords that count, whose names end with what they count.
pub(super) fn is_size_within(name: &str, wrong: Ordering, limit: &Value, value: &Value) -> bool {
    let size = match (&name[3..], value) {
        ("Length", Value::String(text)) => text.chars().count(),
        ("Items", Value::Array(items)) => items.len(),
        ("Properties", Value::Object(members)) => members.len(),
        _ => return true,
    };
    limit.as_number().and_then(|limit| Num::Int(size as i128).compare(Num::from_json(limit))) != Some(wrong)
}
