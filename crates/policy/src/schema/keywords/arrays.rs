//! Keywords that judge arrays.

use super::{Dict, as_list, unknown_here};
use crate::schema::Doubt;
use crate::schema::draft::Draft;
use crate::schema::number::Num;
use crate::schema::values::check_unique;
use crate::schema::walk::{Verdict, Walk};
use serde_json::Value;
use std::cmp::Ordering;

impl<'a> Walk<'a> {
    pub(super) fn array_keyword(
        &mut self,
        name: &str,
        wanted: &'a Value,
        schema: &'a Dict,
        items: &[Value],
    ) -> Verdict {
        let draft = self.draft;
        match name {
            "items" if draft == Draft::Of2020 => {
                let prefix = schema.get("prefixItems").map_or(0, |prefix| as_list(prefix).len());
                self.each_from(prefix, wanted, items)
            }
            "items" => match wanted {
                Value::Array(schemas) => self.all_valid(schemas.iter().zip(items)),
                schema => self.each_from(0, schema, items),
            },
            "prefixItems" if draft == Draft::Of2020 => self.all_valid(as_list(wanted).iter().zip(items)),
            "additionalItems" => match schema.get("items") {
                None | Some(Value::Object(_)) => Ok(true),
                Some(Value::Array(schemas)) if items.len() <= schemas.len() => Ok(true),
                // To forbid some, jsonschema sorts them, and fails where Python can't.
                Some(Value::Array(schemas)) if *wanted != Value::Bool(false) => {
                    self.each_from(schemas.len(), wanted, items)
                }
                Some(_) => Err(Doubt),
            },
            "contains" if draft >= Draft::Of2019 => self.contains_some(wanted, schema, items),
            "contains" if draft >= Draft::Six => Ok(self.count_valid(wanted, items)? > 0),
            "uniqueItems" if *wanted == Value::Bool(true) => check_unique(items, &mut self.steps).map(|()| true),
            "unevaluatedItems" if draft >= Draft::Of2019 => Err(Doubt),
            _ => unknown_here(name, draft),
        }
    }

    fn each_from(&mut self, start: usize, schema: &'a Value, items: &[Value]) -> Verdict {
        self.all_valid(items.iter().skip(start).map(|item| (schema, item)))
    }

    fn contains_some(&mut self, wanted: &'a Value, schema: &'a Dict, items: &[Value]) -> Verdict {
        let count = Num::Int(self.count_valid(wanted, items)? as i128);
        let bound = |name| schema.get(name).and_then(Value::as_number).map(Num::from_json);
        let least = bound("minContains").unwrap_or(Num::Int(1));
        let within = bound("maxContains").is_none_or(|most| count.compare(most) != Some(Ordering::Greater));
        Ok(within && count.compare(least) != Some(Ordering::Less))
    }

    fn count_valid(&mut self, schema: &'a Value, items: &[Value]) -> Result<usize, Doubt> {
        let mut count = 0;
        for item in items {
            count += usize::from(self.is_valid(schema, item)?);
        }
        Ok(count)
    }
}
