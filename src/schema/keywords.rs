//! The keywords, grouped by what they look at, and the table of which draft knows which.

mod arrays;
mod branches;
mod objects;
mod scalars;

use super::Doubt;
use super::datum::Datum;
use super::draft::Draft;
use super::faults::Faults;
use super::walk::{Flow, Site, Walk};
use serde_json::Value;

impl<'a> Walk<'a> {
    /// Applies one keyword. What the draft does not know is an annotation.
    pub(super) fn keyword(&mut self, name: &str, value: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let draft = self.draft;
        match name {
            "$ref" => self.reference(value, at, faults),
            "allOf" => self.all_of(value, at, faults),
            "anyOf" => self.any_of(value, at, faults),
            "oneOf" => self.one_of(value, at, faults),
            "not" => self.not(value, at, faults),
            "if" if draft >= Draft::Seven => self.condition(value, at, faults),
            "type" => self.of_type(value, at, faults),
            "enum" => self.one_of_values(value, at, faults),
            "const" if draft >= Draft::Six => self.this_value(value, at, faults),
            "multipleOf" => self.multiple_of(value, at, faults),
            "minimum" | "maximum" => self.bound(name == "minimum", false, value, at, faults),
            "exclusiveMinimum" | "exclusiveMaximum" if draft >= Draft::Six => {
                self.bound(name == "exclusiveMinimum", true, value, at, faults)
            }
            "minLength" | "minItems" | "minProperties" => self.at_least(name, value, at, faults),
            "maxLength" | "maxItems" | "maxProperties" => self.at_most(name, value, at, faults),
            "pattern" => self.text_pattern(value, at, faults),
            _ => match at.datum {
                Datum::List(items) => self.array_keyword(name, value, items, at, faults),
                Datum::Dict(members) => self.object_keyword(name, value, members, at, faults),
                _ => unknown_here(name, draft),
            },
        }
    }
}

/// The references that follow the dynamic scope are left to the guest, whatever the value is.
fn unknown_here(name: &str, draft: Draft) -> Flow {
    match name {
        "$dynamicRef" if draft == Draft::Of2020 => Err(Doubt::Keyword("$dynamicRef").into()),
        _ => Ok(()),
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
