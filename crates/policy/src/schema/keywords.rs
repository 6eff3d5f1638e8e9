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
    pub(super) fn apply_keyword(&mut self, name: &str, wanted: &'a Value, schema: &'a Dict, value: &Value) -> Verdict {
        let draft = self.draft;
        match name {
            "$ref" => self.follow_reference(wanted, value),
            "allOf" => self.all_valid(as_list(wanted).iter().map(|schema| (schema, value))),
            "anyOf" => self.any_of(as_list(wanted), value),
            "oneOf" => self.one_of(as_list(wanted), value),
            "not" => self.is_valid(wanted, value).map(|valid| !valid),
            "if" if draft >= Draft::Seven => self.if_then_else(wanted, schema, value),
            "type" => Ok(self.has_type(wanted, value)),
            "enum" => self.one_of_values(as_list(wanted), value),
            "const" if draft >= Draft::Six => self.this_value(wanted, value),
            "multipleOf" => scalars::multiple_of(wanted, value),
            "minimum" => Ok(self.is_within_bound(wanted, Ordering::Less, schema.get("exclusiveMinimum"), value)),
            "maximum" => Ok(self.is_within_bound(wanted, Ordering::Greater, schema.get("exclusiveMaximum"), value)),
            "exclusiveMinimum" if draft >= Draft::Six => Ok(scalars::is_beyond_bound(wanted, Ordering::Greater, value)),
            "exclusiveMaximum" if draft >= Draft::Six => Ok(scalars::is_beyond_bound(wanted, Ordering::Less, value)),
            "minLength" | "minItems" | "minProperties" => {
                Ok(scalars::is_size_within(name, Ordering::Less, wanted, value))
            }
            "maxLength" | "maxItems" | "maxProperties" => {
                Ok(scalars::is_size_within(name, Ordering::Greater, wanted, value))
            }
            "pattern" => self.text_pattern(wanted, value),
            // The remaining keywords apply to one type of value, and accept values of any other type.
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

    fn if_then_else(&mut self, condition: &'a Value, schema: &'a Dict, value: &Value) -> Verdict {
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
fn as_list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A keyword's value that [`shape`](super::shape) has seen to be an object.
fn as_members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member))
}
