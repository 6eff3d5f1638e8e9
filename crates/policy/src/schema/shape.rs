//! Whether a schema is one: what jsonschema's `check_schema` finds out with the metaschemas.
//!
//! It may refuse more than the metaschemas do (keywords are held to their meaning in every draft), never
//! less: a schema that jsonschema would refuse must not be used to judge params.

use super::draft::Draft;
use super::number::Num;
use super::pattern::Pattern;
use super::values::check_unique;
use super::{Doubt, Steps};
use serde_json::Value;
use std::cmp::Ordering;

/// Python spends up to eighteen frames on a level when it holds a schema against its metaschema.
const MAX_LEVELS: usize = 32;
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Refuses a root that is not a schema of `draft`.
pub fn check_schema(root: &Value, draft: Draft, steps: &mut Steps) -> Result<(), Doubt> {
    Shape { draft, steps, level: 0 }.check_one(root)
}

/// Refuses what is not a schema of `draft` below the root.
pub fn check_schema_below(schema: &Value, draft: Draft, steps: &mut Steps) -> Result<(), Doubt> {
    Shape { draft, steps, level: 1 }.check_one(schema)
}

fn require(fits: bool) -> Result<(), Doubt> {
    fits.then_some(()).ok_or(Doubt)
}

struct Shape<'s> {
    draft: Draft,
    steps: &'s mut Steps,
    level: usize,
}

impl Shape<'_> {
    fn check_one(&mut self, schema: &Value) -> Result<(), Doubt> {
        self.steps.spend(1)?;
        match schema {
            Value::Bool(_) if self.draft > Draft::Four => Ok(()),
            Value::Object(keywords) => {
                require(self.level < MAX_LEVELS)?;
                self.level += 1;
                for (keyword, value) in keywords {
                    self.check_keyword(keyword, value)?;
                }
                self.level -= 1;
                self.check_pairs(keywords)
            }
            _ => Err(Doubt),
        }
    }

    fn check_keyword(&mut self, keyword: &str, value: &Value) -> Result<(), Doubt> {
        self.steps.spend(1)?;
        match keyword {
            "additionalProperties" | "additionalItems" if value.is_boolean() => Ok(()),
            "items" if self.draft < Draft::Of2020 && value.is_array() => self.check_all(value),
            "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "contentSchema"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "additionalProperties"
            | "additionalItems"
            | "items" => self.check_one(value),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.check_all(value),
            "properties" | "definitions" | "$defs" | "dependentSchemas" => self.check_each(value, Self::check_one),
            "patternProperties" => {
                self.check_each(value, Self::check_one)?;
                let mut patterns = value.as_object().into_iter().flatten();
                patterns.try_for_each(|(pattern, _)| self.check_pattern(pattern))
            }
            "dependencies" => self.check_each(value, |this, value| match value {
                Value::Array(_) => this.check_names(value),
                schema => this.check_one(schema),
            }),
            "dependentRequired" => self.check_each(value, Self::check_names),
            "required" => self.check_names(value),
            "type" => self.check_types(value),
            "pattern" => value.as_str().map_or(Err(Doubt), |pattern| self.check_pattern(pattern)),
            "enum" => self.check_values(value),
            _ => require(self.fits_keyword(keyword, value)),
        }
    }

    /// The keywords whose value is no schema and has none inside.
    fn fits_keyword(&self, keyword: &str, value: &Value) -> bool {
        let number = value.as_number().map(Num::from_json);
        match keyword {
            "minimum" | "maximum" => value.is_number(),
            "exclusiveMinimum" | "exclusiveMaximum" if self.draft == Draft::Four => value.is_boolean(),
            "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "multipleOf" => number.is_some_and(|n| n.compare(Num::Int(0)) == Some(Ordering::Greater)),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
            | "maxContains" => self.is_count(value),
            "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" => value.is_boolean(),
            "title" | "description" | "format" | "$comment" | "contentMediaType" | "contentEncoding" | "$ref"
            | "$dynamicRef" => value.is_string(),
            "examples" => value.is_array(),
            "$schema" => self.level == 1 && value.is_string(),
            "$anchor" | "$dynamicAnchor" => value.as_str().is_some_and(is_anchor),
            "$id" => value.as_str().is_some_and(is_harmless_id),
            "id" if self.draft == Draft::Four => value.as_str().is_some_and(is_harmless_id),
            "$vocabulary" | "$recursiveRef" | "$recursiveAnchor" => self.draft < Draft::Of2019,
            _ => true,
        }
    }

    /// Draft 4 makes a bound exclusive with a keyword that may not come alone.
    fn check_pairs(&self, keywords: &serde_json::Map<String, Value>) -> Result<(), Doubt> {
        let pairs = [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")];
        let complete = |(keyword, bound)| !keywords.contains_key(keyword) || keywords.contains_key(bound);
        require(self.draft > Draft::Four || pairs.into_iter().all(complete))
    }

    fn check_all(&mut self, value: &Value) -> Result<(), Doubt> {
        let schemas = value.as_array().filter(|schemas| !schemas.is_empty()).ok_or(Doubt)?;
        schemas.iter().try_for_each(|schema| self.check_one(schema))
    }

    fn check_each(
        &mut self,
        value: &Value,
        mut check: impl FnMut(&mut Self, &Value) -> Result<(), Doubt>,
    ) -> Result<(), Doubt> {
        let members = value.as_object().ok_or(Doubt)?;
        members.values().try_for_each(|member| check(self, member))
    }

    fn check_names(&mut self, value: &Value) -> Result<(), Doubt> {
        let names = value.as_array().ok_or(Doubt)?;
        require((self.draft > Draft::Four || !names.is_empty()) && names.iter().all(Value::is_string))?;
        check_unique(names, self.steps)
    }

    fn check_types(&mut self, value: &Value) -> Result<(), Doubt> {
        let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
        match value {
            Value::Array(names) => {
                require(!names.is_empty() && names.iter().all(known))?;
                check_unique(names, self.steps)
            }
            name => require(known(name)),
        }
    }

    fn check_values(&mut self, value: &Value) -> Result<(), Doubt> {
        let values = value.as_array().ok_or(Doubt)?;
        if self.draft > Draft::Four {
            return Ok(());
        }
        require(!values.is_empty())?;
        check_unique(values, self.steps)
    }

    fn check_pattern(&mut self, pattern: &str) -> Result<(), Doubt> {
        self.steps.spend(pattern.len())?;
        Pattern::parse(pattern).map(drop)
    }

    fn is_count(&self, value: &Value) -> bool {
        match value.as_number().map(Num::from_json) {
            Some(Num::Int(count)) => count >= 0,
            Some(Num::Float(float)) => self.draft > Draft::Four && float.fract() == 0.0 && float >= 0.0,
            None => false,
        }
    }
}

fn is_anchor(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
}

/// An address that Python can join to another without complaint.
fn is_harmless_id(text: &str) -> bool {
    let text = text.strip_suffix('#').unwrap_or(text);
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._/:".contains(&b))
}
