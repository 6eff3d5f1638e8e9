//! Keywords that judge arrays.

use super::{list, unknown_here};
use crate::schema::Doubt;
use crate::schema::datum::{is_unique, sorted};
use crate::schema::draft::Draft;
use crate::schema::faults::{Faults, Step};
use crate::schema::number::Num;
use crate::schema::repr::{repr, reprs};
use crate::schema::walk::{Flow, Site, Walk};
use serde_json::Value;
use std::cmp::Ordering;

impl<'a> Walk<'a> {
    pub(super) fn array_keyword(
        &mut self,
        name: &str,
        value: &'a Value,
        items: &'a [Value],
        at: Site<'a>,
        faults: &mut Faults<'a>,
    ) -> Flow {
        let draft = self.draft;
        match name {
            "items" if draft == Draft::Of2020 => self.items_after_prefix(value, items, at, faults),
            "items" => match value {
                Value::Array(schemas) => self.each_by_place(schemas, items, faults),
                schema => self.each_from(0, schema, items, faults),
            },
            "prefixItems" if draft == Draft::Of2020 => self.each_by_place(list(value), items, faults),
            "additionalItems" => self.additional_items(value, items, at, faults),
            "contains" if draft >= Draft::Of2019 => self.contains_some(value, items, at, faults),
            "contains" if draft >= Draft::Six => self.contains_any(value, items, at, faults),
            "uniqueItems" => self.unique_items(value, items, at, faults),
            "unevaluatedItems" if draft >= Draft::Of2019 => Err(Doubt::Keyword("unevaluatedItems").into()),
            _ => unknown_here(name, draft),
        }
    }

    fn each_from(&mut self, start: usize, schema: &'a Value, items: &'a [Value], faults: &mut Faults<'a>) -> Flow {
        let mut rest = items.iter().enumerate().skip(start);
        rest.try_for_each(|(index, item)| self.descend_to(Step::Index(index), schema, item, faults))
    }

    fn each_by_place(&mut self, schemas: &'a [Value], items: &'a [Value], faults: &mut Faults<'a>) -> Flow {
        let mut pairs = items.iter().zip(schemas).enumerate();
        pairs.try_for_each(|(index, (item, schema))| self.descend_to(Step::Index(index), schema, item, faults))
    }

    fn items_after_prefix(
        &mut self,
        schema: &'a Value,
        items: &'a [Value],
        at: Site<'a>,
        faults: &mut Faults<'a>,
    ) -> Flow {
        let prefix = at.schema.get("prefixItems").map_or(0, |prefix| list(prefix).len());
        if *schema != Value::Bool(false) {
            return self.each_from(prefix, schema, items, faults);
        }
        if items.len() <= prefix {
            return Ok(());
        }
        self.fault(at, faults, move || Ok(format!("Expected at most {prefix} items, but found {}", items.len())))
    }

    fn additional_items(
        &mut self,
        schema: &'a Value,
        items: &'a [Value],
        at: Site<'a>,
        faults: &mut Faults<'a>,
    ) -> Flow {
        let by_place = match at.schema.get("items") {
            None | Some(Value::Object(_)) => return Ok(()),
            Some(Value::Array(schemas)) => schemas.len(),
            Some(_) => return Err(Doubt::Breaks("additionalItems").into()),
        };
        if *schema != Value::Bool(false) {
            return self.each_from(by_place, schema, items, faults);
        }
        if items.len() <= by_place {
            return Ok(());
        }
        let extras = sorted(&items[by_place..], &mut self.steps)?;
        let extras = extras.ok_or(Doubt::Breaks("additionalItems"))?;
        self.fault(at, faults, move || {
            let verb = if extras.len() == 1 { "was" } else { "were" };
            let extras = reprs(extras)?;
            Ok(format!("Additional items are not allowed ({extras} {verb} unexpected)"))
        })
    }

    fn contains_any(&mut self, schema: &'a Value, items: &'a [Value], at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        for item in items {
            if self.is_valid(schema, item.into())? {
                return Ok(());
            }
        }
        self.fault(at, faults, move || Ok(format!("None of {} are valid under the given schema", repr(at.datum)?)))
    }

    fn contains_some(&mut self, schema: &'a Value, items: &'a [Value], at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let least = at.schema.get("minContains").and_then(Value::as_number).map(Num::of);
        let least = least.unwrap_or(Num::count(1));
        let most = at.schema.get("maxContains").and_then(Value::as_number).map(Num::of);
        let mut matches = 0;
        for item in items {
            matches += usize::from(self.is_valid(schema, item.into())?);
            let count = Num::count(matches);
            if let Some(most) = &most
                && count.compare(most) == Some(Ordering::Greater)
            {
                let most = most.to_string();
                return self.fault(at, faults, move || {
                    Ok(format!("Too many items match the given schema (expected at most {most})"))
                });
            }
        }
        if Num::count(matches).compare(&least) != Some(Ordering::Less) {
            return Ok(());
        }
        self.fault(at, faults, move || match matches {
            0 => Ok(format!("{} does not contain items matching the given schema", repr(at.datum)?)),
            _ => Ok(format!(
                "Too few items match the given schema (expected at least {least} but only {matches} matched)"
            )),
        })
    }

    fn unique_items(&mut self, wanted: &'a Value, items: &'a [Value], at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        if *wanted != Value::Bool(true) || is_unique(items, &mut self.steps)? {
            return Ok(());
        }
        self.fault(at, faults, move || Ok(format!("{} has non-unique elements", repr(at.datum)?)))
    }
}
