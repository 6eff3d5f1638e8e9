//! The first look at a document: everything after it may recurse over values and calculate with numbers without looking
//! at bounds again.

use super::number::Num;
use super::{Doubt, Steps};
use serde_json::{Number, Value};

/// The parser's own bound for JSON text, met here also by values that never were text.
const MAX_DEPTH: usize = 128;
/// From here on a double may have been an integer, which is an integer to Python.
const MAX_DOUBLE: f64 = (1u64 << 63) as f64;

/// Refuses what is too deep or holds a number that Python may see otherwise.
pub fn survey(document: &Value, steps: &mut Steps) -> Result<(), Doubt> {
    survey_value(document, MAX_DEPTH, steps)
}

fn survey_value(value: &Value, left: usize, steps: &mut Steps) -> Result<(), Doubt> {
    steps.spend(1)?;
    let below = left.checked_sub(1).ok_or(Doubt);
    match value {
        Value::Number(number) if !is_exact(number) => Err(Doubt),
        Value::Array(items) => below.and_then(|left| items.iter().try_for_each(|item| survey_value(item, left, steps))),
        Value::Object(members) => {
            below.and_then(|left| members.values().try_for_each(|member| survey_value(member, left, steps)))
        }
        _ => Ok(()),
    }
}

/// Whether this is the number that was written, and of its kind. What serde_json keeps of one depends on its features, and a
/// program that uses this library chooses them: without `arbitrary_precision`, an integer that is too long, and `-0`, are
/// doubles.
fn is_exact(number: &Number) -> bool {
    match Num::from_json(number) {
        Num::Int(_) => true,
        Num::Float(double) => double.abs() < MAX_DOUBLE && !(double == 0.0 && double.is_sign_negative()),
    }
}
