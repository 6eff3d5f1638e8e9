//! Keywords that judge objects.

use super::{list, members, unknown_here};
use crate::schema::datum::Datum;
use crate::schema::draft::Draft;
use crate::schema::faults::{Faults, Step};
use crate::schema::repr::{repr, reprs};
use crate::schema::walk::{Flow, Site, Walk};
use crate::schema::{Doubt, Stop};
use serde_json::{Map, Value};

type Dict = Map<String, Value>;

impl<'a> Walk<'a> {
    pub(super) fn object_keyword(
        &mut self,
        name: &str,
        value: &'a Value,
        dict: &'a Dict,
        at: Site<'a>,
        faults: &mut Faults<'a>,
    ) -> Flow {
        let draft = self.draft;
        match name {
            "properties" => self.properties(value, dict, faults),
            "required" => self.required(value, dict, at, faults),
            "additionalProperties" => self.additional_properties(value, dict, at, faults),
            "patternProperties" => self.pattern_properties(value, dict, faults),
            "propertyNames" if draft >= Draft::Six => self.property_names(value, dict, faults),
            "dependencies" if draft <= Draft::Seven => self.dependencies(value, dict, at, faults),
            "dependentRequired" | "dependentSchemas" if draft >= Draft::Of2019 => {
                self.dependencies(value, dict, at, faults)
            }
            "unevaluatedProperties" if draft >= Draft::Of2019 => Err(Doubt::Keyword("unevaluatedProperties").into()),
            _ => unknown_here(name, draft),
        }
    }

    fn properties(&mut self, properties: &'a Value, dict: &'a Dict, faults: &mut Faults<'a>) -> Flow {
        for (name, schema) in members(properties) {
            if let Some(member) = self.member(dict, name)? {
                self.descend_to(Step::Key(name), schema, member, faults)?;
            }
        }
        Ok(())
    }

    fn required(&mut self, names: &'a Value, dict: &'a Dict, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        for name in list(names) {
            if self.member(dict, name.as_str().unwrap_or_default())?.is_none() {
                self.fault(at, faults, move || Ok(format!("{} is a required property", repr(name)?)))?;
            }
        }
        Ok(())
    }

    fn pattern_properties(&mut self, patterns: &'a Value, dict: &'a Dict, faults: &mut Faults<'a>) -> Flow {
        for (pattern, schema) in members(patterns) {
            self.steps.spend(1)?;
            for (name, member) in dict {
                if self.search(pattern, name)? {
                    self.descend_to(Step::Key(name), schema, member, faults)?;
                }
            }
        }
        Ok(())
    }

    fn property_names(&mut self, schema: &'a Value, dict: &'a Dict, faults: &mut Faults<'a>) -> Flow {
        let mut names = dict.keys();
        names.try_for_each(|name| self.descend(schema, Datum::Text(name), faults))
    }

    /// Python walks a set of names here, in an order that changes from run to run; this is the params' order.
    fn additional_properties(
        &mut self,
        schema: &'a Value,
        dict: &'a Dict,
        at: Site<'a>,
        faults: &mut Faults<'a>,
    ) -> Flow {
        let mut extras = self.extras(dict, at)?;
        if *schema != Value::Bool(false) {
            let mut extras = extras.into_iter();
            return extras.try_for_each(|(name, member)| self.descend_to(Step::Key(name), schema, member, faults));
        }
        if extras.is_empty() {
            return Ok(());
        }
        self.fault(at, faults, move || {
            extras.sort_unstable_by_key(|(name, _)| *name);
            let names = reprs(extras.iter().map(|(name, _)| Datum::Text(name)))?;
            let one = extras.len() == 1;
            let Some(patterns) = at.schema.get("patternProperties") else {
                let verb = if one { "was" } else { "were" };
                return Ok(format!("Additional properties are not allowed ({names} {verb} unexpected)"));
            };
            let mut patterns: Vec<_> = members(patterns).map(|(pattern, _)| pattern).collect();
            patterns.sort_unstable();
            let patterns = reprs(patterns.into_iter().map(Datum::Text))?;
            let verb = if one { "does" } else { "do" };
            Ok(format!("{names} {verb} not match any of the regexes: {patterns}"))
        })
    }

    /// The members that neither `properties` nor `patternProperties` names.
    fn extras(&mut self, dict: &'a Dict, at: Site<'a>) -> Result<Vec<(&'a str, &'a Value)>, Stop> {
        let named = at.schema.get("properties").and_then(Value::as_object);
        let patterns: Vec<_> = at
            .schema
            .get("patternProperties")
            .map_or(Vec::new(), |patterns| members(patterns).map(|(pattern, _)| pattern).collect());
        self.steps.spend(patterns.len())?;
        let mut extras = Vec::new();
        for (name, member) in dict {
            let is_named = match named {
                Some(named) => self.member(named, name)?.is_some(),
                None => false,
            };
            if !is_named && !self.matches_any(&patterns, name)? {
                extras.push((name.as_str(), member));
            }
        }
        Ok(extras)
    }

    /// jsonschema joins the patterns into one, and takes an empty one for "no patterns".
    fn matches_any(&mut self, patterns: &[&'a str], name: &str) -> Result<bool, Stop> {
        if let [""] = patterns {
            return Ok(false);
        }
        for pattern in patterns {
            if self.search(pattern, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All three keywords: what another name demands is a list of names or a schema.
    fn dependencies(&mut self, demands: &'a Value, dict: &'a Dict, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        for (name, demand) in members(demands) {
            if self.member(dict, name)?.is_none() {
                continue;
            }
            let Value::Array(wanted) = demand else {
                self.descend(demand, at.datum, faults)?;
                continue;
            };
            for each in wanted {
                if self.member(dict, each.as_str().unwrap_or_default())?.is_none() {
                    self.fault(at, faults, move || {
                        Ok(format!("{} is a dependency of {}", repr(each)?, repr(Datum::Text(name))?))
                    })?;
                }
            }
        }
        Ok(())
    }
}
