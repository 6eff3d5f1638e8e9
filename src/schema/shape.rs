//! Whether a schema is one: what jsonschema's `check_schema` finds out with the metaschemas.
//!
//! It may refuse more than the metaschemas do (keywords are held to their meaning in every draft), never
//! less: a schema that jsonschema would refuse must not be used to judge params.

use super::datum::is_unique;
use super::draft::Draft;
use super::number::Num;
use super::pattern::Pattern;
use super::{Doubt, Steps};
use serde_json::Value;
use std::cmp::Ordering;

/// Python spends up to eighteen frames on a level when it holds a schema against its metaschema.
const MAX_LEVELS: usize = 32;
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// Refuses a root that is not a schema of `draft`.
pub fn well_formed(root: &Value, draft: Draft, steps: &mut Steps) -> Result<(), Doubt> {
    Shape { draft, steps, level: 0 }.schema("$schema", root)
}

/// Refuses what is not a schema of `draft` below the root.
pub fn well_formed_below(schema: &Value, draft: Draft, steps: &mut Steps) -> Result<(), Doubt> {
    Shape { draft, steps, level: 1 }.schema("$ref", schema)
}

struct Shape<'s> {
    draft: Draft,
    steps: &'s mut Steps,
    level: usize,
}

impl Shape<'_> {
    fn schema(&mut self, keyword: &str, schema: &Value) -> Result<(), Doubt> {
        self.steps.spend(1)?;
        match schema {
            Value::Bool(_) if self.draft > Draft::Four => Ok(()),
            Value::Object(keywords) => {
                if self.level == MAX_LEVELS {
                    return Err(Doubt::Depth("schema"));
                }
                self.level += 1;
                for (keyword, value) in keywords {
                    self.keyword(keyword, value)?;
                }
                self.level -= 1;
                self.pairs(keywords)
            }
            _ => Err(Doubt::Shape(keyword.into())),
        }
    }

    fn keyword(&mut self, keyword: &str, value: &Value) -> Result<(), Doubt> {
        self.steps.spend(1)?;
        let fits = match keyword {
            "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "contentSchema"
            | "unevaluatedItems"
            | "unevaluatedProperties" => return self.schema(keyword, value),
            "additionalProperties" | "additionalItems" => {
                return if value.is_boolean() { Ok(()) } else { self.schema(keyword, value) };
            }
            "items" if self.draft < Draft::Of2020 && value.is_array() => {
                return self.schemas(keyword, value);
            }
            "items" => return self.schema(keyword, value),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => return self.schemas(keyword, value),
            "properties" | "definitions" | "$defs" | "dependentSchemas" => {
                return self.each(keyword, value, Self::schema);
            }
            "patternProperties" => {
                self.each(keyword, value, Self::schema)?;
                let patterns = value.as_object().into_iter().flatten();
                return patterns.map(|(pattern, _)| pattern).try_for_each(|pattern| self.pattern(pattern));
            }
            "dependencies" => {
                return self.each(keyword, value, |this, keyword, value| match value {
                    Value::Array(_) => this.names(keyword, value),
                    schema => this.schema(keyword, schema),
                });
            }
            "dependentRequired" => return self.each(keyword, value, Self::names),
            "required" => return self.names(keyword, value),
            "type" => self.types(value)?,
            "pattern" => {
                return value.as_str().map_or(Err(Doubt::Shape(keyword.into())), |p| self.pattern(p));
            }
            "enum" => self.values(value)?,
            _ => self.fits(keyword, value),
        };
        if fits { Ok(()) } else { Err(Doubt::Shape(keyword.into())) }
    }

    /// The keywords whose value is no schema and has none inside.
    fn fits(&self, keyword: &str, value: &Value) -> bool {
        let number = value.as_number().map(Num::of);
        match keyword {
            "minimum" | "maximum" => value.is_number(),
            "exclusiveMinimum" | "exclusiveMaximum" if self.draft == Draft::Four => value.is_boolean(),
            "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "multipleOf" => number.is_some_and(|n| n.compare(&Num::count(0)) == Some(Ordering::Greater)),
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
    fn pairs(&self, keywords: &serde_json::Map<String, Value>) -> Result<(), Doubt> {
        for (keyword, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            let alone = keywords.contains_key(keyword) && !keywords.contains_key(bound);
            if self.draft == Draft::Four && alone {
                return Err(Doubt::Shape(keyword.into()));
            }
        }
        Ok(())
    }

    fn schemas(&mut self, keyword: &str, value: &Value) -> Result<(), Doubt> {
        match value {
            Value::Array(schemas) if !schemas.is_empty() => {
                schemas.iter().try_for_each(|schema| self.schema(keyword, schema))
            }
            _ => Err(Doubt::Shape(keyword.into())),
        }
    }

    fn each(
        &mut self,
        keyword: &str,
        value: &Value,
        mut holds: impl FnMut(&mut Self, &str, &Value) -> Result<(), Doubt>,
    ) -> Result<(), Doubt> {
        let members = value.as_object().ok_or_else(|| Doubt::Shape(keyword.into()))?;
        members.values().try_for_each(|member| holds(self, keyword, member))
    }

    fn names(&mut self, keyword: &str, value: &Value) -> Result<(), Doubt> {
        let names = value.as_array().map_or(&[][..], Vec::as_slice);
        let may_be_empty = self.draft > Draft::Four;
        let fits = value.is_array()
            && (may_be_empty || !names.is_empty())
            && names.iter().all(Value::is_string)
            && is_unique(names, self.steps)?;
        if fits { Ok(()) } else { Err(Doubt::Shape(keyword.into())) }
    }

    fn types(&mut self, value: &Value) -> Result<bool, Doubt> {
        let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
        match value {
            Value::Array(names) => Ok(!names.is_empty() && names.iter().all(known) && is_unique(names, self.steps)?),
            name => Ok(known(name)),
        }
    }

    fn values(&mut self, value: &Value) -> Result<bool, Doubt> {
        match value {
            Value::Array(values) if self.draft == Draft::Four => {
                Ok(!values.is_empty() && is_unique(values, self.steps)?)
            }
            other => Ok(other.is_array()),
        }
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), Doubt> {
        self.steps.spend(pattern.len())?;
        Pattern::parse(pattern).map(drop)
    }

    fn is_count(&self, value: &Value) -> bool {
        match value.as_number().map(Num::of) {
            Some(Num::Int { negative, .. }) => !negative,
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
