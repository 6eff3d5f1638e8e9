//! Keywords that hold the same value against other schemas.

use super::list;
use crate::schema::Stop;
use crate::schema::faults::Faults;
use crate::schema::repr::{repr, reprs};
use crate::schema::walk::{Flow, Site, Walk};
use serde_json::Value;

impl<'a> Walk<'a> {
    pub(super) fn reference(&mut self, address: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let address = address.as_str().unwrap_or_default();
        let target = self.refs.resolve(address, &mut self.steps)?;
        self.descend(target, at.datum, faults)
    }

    pub(super) fn all_of(&mut self, schemas: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let mut schemas = list(schemas).iter();
        schemas.try_for_each(|schema| self.descend(schema, at.datum, faults))
    }

    pub(super) fn any_of(&mut self, schemas: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        self.first_valid(list(schemas), at, faults)?;
        Ok(())
    }

    pub(super) fn one_of(&mut self, schemas: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let schemas = list(schemas);
        let Some(first) = self.first_valid(schemas, at, faults)? else {
            return Ok(());
        };
        let mut valid = Vec::new();
        for schema in &schemas[first + 1..] {
            if self.is_valid(schema, at.datum)? {
                valid.push(schema);
            }
        }
        if valid.is_empty() {
            return Ok(());
        }
        valid.push(&schemas[first]);
        self.weak_fault(at, self.rivals(), faults, move || {
            Ok(format!("{} is valid under each of {}", repr(at.datum)?, reprs(valid)?))
        })
    }

    /// The place of the first schema that holds; a fault if there is none.
    fn first_valid(
        &mut self,
        schemas: &'a [Value],
        at: Site<'a>,
        faults: &mut Faults<'a>,
    ) -> Result<Option<usize>, Stop> {
        let mut rivals = self.rivals();
        for (place, schema) in schemas.iter().enumerate() {
            let seen = rivals.seen;
            self.descend(schema, at.datum, &mut rivals)?;
            if rivals.seen == seen {
                return Ok(Some(place));
            }
        }
        self.weak_fault(at, rivals, faults, move || {
            Ok(format!("{} is not valid under any of the given schemas", repr(at.datum)?))
        })?;
        Ok(None)
    }

    pub(super) fn not(&mut self, schema: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        if !self.is_valid(schema, at.datum)? {
            return Ok(());
        }
        self.fault(at, faults, move || Ok(format!("{} should not be valid under {}", repr(at.datum)?, repr(schema)?)))
    }

    pub(super) fn condition(&mut self, schema: &'a Value, at: Site<'a>, faults: &mut Faults<'a>) -> Flow {
        let branch = if self.is_valid(schema, at.datum)? { "then" } else { "else" };
        match at.schema.get(branch) {
            Some(schema) => self.descend(schema, at.datum, faults),
            None => Ok(()),
        }
    }
}
