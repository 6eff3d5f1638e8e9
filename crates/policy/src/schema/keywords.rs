//! The keywords, grouped by what they look at, and the table of which draft knows which.

mod arrays;
mod objects;
mod scalars;

use super::Doubt;
use super::draft::Draft;
use super::walk::{Verdict, Walk};
use serde_json::{Map, Value};
use std::cmp::Ordering;

type Dict = Map<String, Value>;

impl<'a> Walk<'a> {
    /// Applies one keyword, `wanted` being what `schema` has under its name. What the draft does not know is an
    /// annotation.
    pub(super) fn keyword(&mut self, name: &str, wanted: &'a Value, schema: &'a Dict, value: &Value) -> Verdict {
        let draft = self.draft;
        match name {
            "$ref" => self.reference(wanted, value),
            "allOf" => self.all_valid(list(wanted).iter().map(|schema| (schema, value))),
            "anyOf" => self.any_of(list(wanted), value),
            "oneOf" => self.one_of(list(wanted), value),
            "not" => self.is_valid(wanted, value).map(|valid| !valid),
            "if" if draft >= Draft::Seven => self.condition(wanted, schema, value),
            "type" => Ok(self.has_type(wanted, value)),
            "enum" => self.one_of_values(list(wanted), value),
            "const" if draft >= Draft::Six => self.this_value(wanted, value),
            "multipleOf" => scalars::multiple_of(wanted, value),
            "minimum" => Ok(self.within(wanted, Ordering::Less, schema.get("exclusiveMinimum"), value)),
            "maximum" => Ok(self.within(wanted, Ordering::Greater, schema.get("exclusiveMaximum"), value)),
            "exclusiveMinimum" if draft >= Draft::Six => Ok(scalars::beyond(wanted, Ordering::Greater, value)),
            "exclusiveMaximum" if draft >= Draft::Six => Ok(scalars::beyond(wanted, Ordering::Less, value)),
            "minLength" | "minItems" | "minProperties" => Ok(scalars::size(name, Ordering::Less, wanted, value)),
            "maxLength" | "maxItems" | "maxProperties" => Ok(scalars::size(name, Ordering::Greater, wanted, value)),
            "pattern" => self.text_pattern(wanted, value),
            _ => match value {
                Value::Array(items) => self.array_keyword(name, wanted, schema, items),
                Value::Object(members) => self.object_keyword(name, wanted, schema, value, members),
                _ => unknown_here(name, draft),
            },
        }
    }

    fn any_of(&mut self, schemas: &'a [Value], value: &Value) -> Verdict {
        for schema in schemas {
            if self.is_valid(schema, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn one_of(&mut self, schemas: &'a [Value], value: &Value) -> Verdict {
        let mut valid = 0;
        for schema in schemas {
            valid += usize::from(self.is_valid(schema, value)?);
        }
        Ok(valid == 1)
    }

    fn condition(&mut self, condition: &'a Value, schema: &'a Dict, value: &Value) -> Verdict {
        let branch = if self.is_valid(condition, value)? { "then" } else { "else" };
        schema.get(branch).map_or(Ok(true), |schema| self.is_valid(schema, value))
    }
}

/// The references that follow the dynamic scope are left to the guest, whatever the value is.
fn unknown_here(name: &str, draft: Draft) -> Verdict {
    match name {
        "$dynamicRef" if draft == Draft::Of2020 => Err(Doubt),
        _ => Ok(true),
    }
}

/// A keyword's value that [`shape`](super::shape) has seen to be an array.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A keyword's value that [`shape`](super::shape) has seen to be an object.
fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member))
}
