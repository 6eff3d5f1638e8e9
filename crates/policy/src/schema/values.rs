//! JSON values as jsonschema sees them in Python: their type names, and when two are equal.

use super::number::Num;
use super::{Doubt, Steps, draft::Draft};
use serde_json::{Map, Value};

pub fn is_type(value: &Value, name: &str, draft: Draft) -> bool {
    match (name, value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        ("integer", Value::Number(number)) => match Num::from_json(number) {
            Num::Int(_) => true,
            Num::Float(float) => draft > Draft::Four && float.is_finite() && float.fract() == 0.0,
        },
        _ => false,
    }
}

/// Roughly what one look at a value costs, apart from what is inside it.
pub fn weight_of_value(value: &Value) -> usize {
    value.as_str().map_or(1, weight_of_text)
}

pub fn weight_of_text(text: &str) -> usize {
    1 + text.len() / 64
}

/// In Python `True == 1` and `False == 0`, and jsonschema keeps them apart in some places only: where it comes to that,
/// it is a doubt.
pub fn values_equal(one: &Value, two: &Value, steps: &mut Steps) -> Result<bool, Doubt> {
    steps.spend(weight_of_value(one).max(weight_of_value(two)))?;
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => Ok(Num::from_json(one).equals(Num::from_json(two))),
        (Value::Bool(truth), Value::Number(number)) | (Value::Number(number), Value::Bool(truth)) => {
            let alike = Num::from_json(number).equals(Num::Int((*truth).into()));
            if alike { Err(Doubt) } else { Ok(false) }
        }
        (Value::Array(one), Value::Array(two)) => lists_equal(one, two, steps),
        (Value::Object(one), Value::Object(two)) => dicts_equal(one, two, steps),
        _ => Ok(one == two),
    }
}

fn lists_equal(one: &[Value], two: &[Value], steps: &mut Steps) -> Result<bool, Doubt> {
    if one.len() != two.len() {
        return Ok(false);
    }
    for (left, right) in one.iter().zip(two) {
        if !values_equal(left, right, steps)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn dicts_equal(one: &Map<String, Value>, two: &Map<String, Value>, steps: &mut Steps) -> Result<bool, Doubt> {
    if one.len() != two.len() {
        return Ok(false);
    }
    for (key, left) in one {
        steps.spend(weight_of_text(key))?;
        match two.get(key) {
            Some(right) if values_equal(left, right, steps)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Whether all items are different. Equal ones are a doubt: jsonschema looks at neighbours after sorting, where it can
/// sort, and so overlooks some.
pub fn check_unique(items: &[Value], steps: &mut Steps) -> Result<(), Doubt> {
    for (count, item) in items.iter().enumerate() {
        for earlier in &items[..count] {
            if values_equal(earlier, item, steps)? {
                return Err(Doubt);
            }
        }
    }
    Ok(())
}
