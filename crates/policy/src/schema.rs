//! Whether a call's params are surely valid: a fast *yes* to what Python's `jsonschema` 4.17.3 would accept.
//!
//! ```text
//!   schema ─▶ draft ─▶ shape (is it a schema?) ─┐
//!                                               ├─▶ walk ─▶ keywords/* ─▶ values, number
//!   params ─▶ survey (depth, numbers) ──────────┘             │  └─▶ pattern (Python's `re`, a subset)
//!                                                             └─▶ refs (`#/…` only)
//! ```
//!
//! It saves valid calls the check in the guest, where Skillware's `BaseSkill.validate_params` has the last word on all
//! others. So it is no general validator: whatever it can't answer exactly as the guest would is a [`Doubt`], never a
//! guess. Schema and params are hostile: depth and work are bounded, and no regular expression backtracks.

mod draft;
mod keywords;
mod number;
mod pattern;
mod refs;
mod shape;
mod survey;
#[cfg(test)]
mod tests;
mod values;
mod walk;

use serde_json::Value;

/// Only the guest can decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt;

/// The work that one check may do. A step is some tens of nanoseconds.
struct Steps {
    left: u64,
}

impl Steps {
    const LIMIT: u64 = 2_000_000;

    fn spend(&mut self, steps: usize) -> Result<(), Doubt> {
        self.left = self.left.checked_sub(steps as u64).ok_or(Doubt)?;
        Ok(())
    }
}

/// Holds `params` against `schema`, the manifest's `parameters` as they are: Skillware neither merges nor normalises
/// them, and takes whatever is empty or not a mapping for "no schema".
pub fn is_valid(schema: &Value, params: &Value) -> Result<bool, Doubt> {
    if schema.as_object().is_none_or(|keywords| keywords.is_empty()) {
        return Ok(true);
    }
    if !params.is_object() {
        // Skillware refuses this whatever the schema says.
        return Ok(false);
    }
    let mut steps = Steps { left: Steps::LIMIT };
    survey::survey(schema, &mut steps)?;
    survey::survey(params, &mut steps)?;
    let draft = draft::Draft::of_schema(schema)?;
    shape::check_schema(schema, draft, &mut steps)?;
    walk::Walk::new(schema, draft, steps).is_valid(schema, params)
}
