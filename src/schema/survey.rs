//! The first look at a document: everything after it may recurse over values and print numbers without
//! looking at bounds again.

use super::{Doubt, Steps};
use serde_json::Value;

/// The parser's own bound for JSON text, met here also by values that never were text.
const MAX_DEPTH: usize = 128;
/// Python refuses to turn longer digit strings into integers.
const MAX_DIGITS: usize = 4300;

/// Refuses what is too deep or holds too long a number. `name` says which document it is.
pub fn survey(document: &Value, name: &'static str, steps: &mut Steps) -> Result<(), Doubt> {
    visit(document, name, MAX_DEPTH, steps)
}

fn visit(value: &Value, name: &'static str, left: usize, steps: &mut Steps) -> Result<(), Doubt> {
    steps.spend(1)?;
    let below = || left.checked_sub(1).ok_or(Doubt::Depth(name));
    match value {
        Value::Number(number) if number.as_str().len() > MAX_DIGITS => Err(Doubt::Digits(MAX_DIGITS)),
        Value::Array(items) => {
            let left = below()?;
            items.iter().try_for_each(|item| visit(item, name, left, steps))
        }
        Value::Object(members) => {
            let left = below()?;
            members.values().try_for_each(|member| visit(member, name, left, steps))
        }
        _ => Ok(()),
    }
}
