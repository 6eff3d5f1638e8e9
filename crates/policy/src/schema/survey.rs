//! The first look at a document: everything after it may recurse over values and calculate with numbers without looking
//! at bounds again.

use super::{Doubt, Steps};
use serde_json::Value;

/// The parser's own bound for JSON text, met here also by values that never were text.
const MAX_DEPTH: usize = 128;
/// So many digits fit into an `i128`.
const MAX_NUMBER_BYTES: usize = 38;

/// Refuses what is too deep or holds too long a number.
pub fn survey(document: &Value, steps: &mut Steps) -> Result<(), Doubt> {
    visit(document, MAX_DEPTH, steps)
}

fn visit(value: &Value, left: usize, steps: &mut Steps) -> Result<(), Doubt> {
    steps.spend(1)?;
    let below = left.checked_sub(1).ok_or(Doubt);
    match value {
        Value::Number(number) if number.as_str().len() > MAX_NUMBER_BYTES => Err(Doubt),
        Value::Array(items) => below.and_then(|left| items.iter().try_for_each(|item| visit(item, left, steps))),
        Value::Object(members) => {
            below.and_then(|left| members.values().try_for_each(|member| visit(member, left, steps)))
        }
        _ => Ok(()),
    }
}
