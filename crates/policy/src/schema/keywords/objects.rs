//! Keywords that judge objects.

use super::{Dict, as_list, as_members, unknown_here};
use crate::schema::Doubt;
use crate::schema::draft::Draft;
use crate::schema::walk::{Verdict, Walk};
use serde_json::Value;

impl<'a> Walk<'a> {
    pub(super) fn object_keyword(
        &mut self,
        name: &str,
        wanted: &'a Value,
        schema: &'a Dict,
        value: &Value,
        dict: &Dict,
    ) -> Verdict {
        let draft = self.draft;
        match name {
            "properties" => self.check_properties(wanted, dict),
            "required" => self.has_all(as_list(wanted), dict),
            "additionalProperties" => self.additional_properties(wanted, schema, dict),
            "patternProperties" => self.pattern_properties(wanted, dict),
            "propertyNames" if draft >= Draft::Six => self.property_names(wanted, dict),
            "dependencies" if draft <= Draft::Seven => self.check_dependencies(wanted, value, dict),
            "dependentRequired" | "dependentSchemas" if draft >= Draft::Of2019 => {
                self.check_dependencies(wanted, value, dict)
            }
            "unevaluatedProperties" if draft >= Draft::Of2019 => Err(Doubt),
            _ => unknown_here(name, draft),
        }
    }

    fn check_properties(&mut self, properties: &'a Value, dict: &Dict) -> Verdict {
        let mut valid = true;
        for (name, schema) in as_members(properties) {
            if let Some(member) = self.find_member(dict, name)? {
                valid &= self.is_valid(schema, member)?;
            }
        }
        Ok(valid)
    }

    fn has_all(&mut self, names: &[Value], dict: &Dict) -> Verdict {
        let mut has_all = true;
        for name in names {
            has_all &= self.find_member(dict, name.as_str().unwrap_or_default())?.is_some();
        }
        Ok(has_all)
    }

    fn pattern_properties(&mut self, patterns: &'a Value, dict: &Dict) -> Verdict {
        let mut valid = true;
        for (pattern, schema) in as_members(patterns) {
            self.steps.spend(1)?;
            for (name, member) in dict {
                if self.search_pattern(pattern, name)? {
                    valid &= self.is_valid(schema, member)?;
                }
            }
        }
        Ok(valid)
    }

    fn property_names(&mut self, schema: &'a Value, dict: &Dict) -> Verdict {
        let mut valid = true;
        for name in dict.keys() {
            valid &= self.is_valid(schema, &Value::String(name.clone()))?;
        }
        Ok(valid)
    }

    /// Judges the members that neither `properties` nor `patternProperties` names.
    fn additional_properties(&mut self, wanted: &'a Value, schema: &'a Dict, dict: &Dict) -> Verdict {
        let named = schema.get("properties").and_then(Value::as_object);
        let patterns = schema.get("patternProperties").map(as_members).into_iter().flatten();
        let patterns: Vec<_> = patterns.map(|(pattern, _)| pattern).collect();
        self.steps.spend(patterns.len())?;
        let mut valid = true;
        for (name, member) in dict {
            let is_named = match named {
                Some(named) => self.find_member(named, name)?.is_some(),
                None => false,
            };
            if !is_named && !self.matches_any(&patterns, name)? {
                valid &= self.is_valid(wanted, member)?;
            }
        }
        Ok(valid)
    }

    /// jsonschema joins the patterns into one, and takes an empty one for "no patterns".
    fn matches_any(&mut self, patterns: &[&'a str], name: &str) -> Verdict {
        if let [""] = patterns {
            return Ok(false);
        }
        for pattern in patterns {
            if self.search_pattern(pattern, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All three keywords: what another name demands is a list of names or a schema.
    fn check_dependencies(&mut self, demands: &'a Value, value: &Value, dict: &Dict) -> Verdict {
        let mut valid = true;
        for (name, demand) in as_members(demands) {
            if self.find_member(dict, name)?.is_some() {
                valid &= match demand {
                    Value::Array(names) => self.has_all(names, dict)?,
                    schema => self.is_valid(schema, value)?,
                };
            }
        }
        Ok(valid)
    }
}
