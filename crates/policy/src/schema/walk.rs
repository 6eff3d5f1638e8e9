//! The walk over schema and params together. Invariant: every schema that it meets has passed [`shape`],
//! so a keyword's value has the type that its draft wants.
//!
//! [`shape`]: super::shape

use super::draft::Draft;
use super::pattern::Patterns;
use super::refs::Refs;
use super::values::{self, weight_of_text, weight_of_value};
use super::{Doubt, Steps};
use serde_json::{Map, Value};

/// Python spends about three frames on a level, of the thousand that it has.
const MAX_LEVELS: usize = 96;

/// Whether a value is valid. A "no" is as exact as a "yes": `not` turns it round.
pub type Verdict = Result<bool, Doubt>;

pub struct Walk<'a> {
    pub draft: Draft,
    pub steps: Steps,
    refs: Refs<'a>,
    level: usize,
    patterns: Patterns<'a>,
}

impl<'a> Walk<'a> {
    pub fn new(root: &'a Value, draft: Draft, steps: Steps) -> Self {
        Self { draft, steps, refs: Refs::new(root, draft), level: 0, patterns: Patterns::default() }
    }

    /// Holds `value` against `schema`. Goes on after a "no": jsonschema gathers all errors below `anyOf`, and where it
    /// fails itself on the way, nothing is valid.
    pub fn is_valid(&mut self, schema: &'a Value, value: &Value) -> Verdict {
        self.steps.spend(weight_of_value(value))?;
        match schema {
            Value::Object(keywords) => self.apply_keywords(keywords, value),
            schema => Ok(*schema == Value::Bool(true)),
        }
    }

    /// Whether all pairs of a schema and a value are valid.
    pub fn all_valid<'v>(&mut self, pairs: impl IntoIterator<Item = (&'a Value, &'v Value)>) -> Verdict {
        let mut valid = true;
        for (schema, value) in pairs {
            valid &= self.is_valid(schema, value)?;
        }
        Ok(valid)
    }

    fn apply_keywords(&mut self, schema: &'a Map<String, Value>, value: &Value) -> Verdict {
        if self.level == MAX_LEVELS {
            return Err(Doubt);
        }
        self.level += 1;
        self.steps.spend(schema.len())?;
        let reference = schema.get("$ref").filter(|_| self.draft.ref_stands_alone());
        let mut valid = true;
        if let Some(reference) = reference {
            valid = self.apply_keyword("$ref", reference, schema, value)?;
        } else {
            for (name, wanted) in schema {
                valid &= self.apply_keyword(name, wanted, schema, value)?;
            }
        }
        self.level -= 1;
        Ok(valid)
    }

    pub fn follow_reference(&mut self, address: &'a Value, value: &Value) -> Verdict {
        let target = self.refs.resolve(address.as_str().unwrap_or_default(), &mut self.steps)?;
        self.is_valid(target, value)
    }

    /// Whether `value` is of one of the types that the keyword `type` names.
    pub fn has_type(&self, types: &Value, value: &Value) -> bool {
        let names = types.as_array().map_or(std::slice::from_ref(types), Vec::as_slice);
        let mut names = names.iter().filter_map(Value::as_str);
        names.any(|name| values::is_type(value, name, self.draft))
    }

    /// A member by its name.
    pub fn find_member<'d>(&mut self, dict: &'d Map<String, Value>, name: &str) -> Result<Option<&'d Value>, Doubt> {
        self.steps.spend(weight_of_text(name))?;
        Ok(dict.get(name))
    }

    /// Python's `re.search(pattern, text)`, as a yes or no.
    pub fn search_pattern(&mut self, pattern: &'a str, text: &str) -> Verdict {
        self.patterns.search(pattern, text, &mut self.steps)
    }
}
