//! Checks a call's params against the manifest's `parameters`, in the words of Python's `jsonschema` 4.17.3.
//!
//! ```text
//!   schema ─▶ draft ─▶ shape (is it a schema?) ─┐
//!                                               ├─▶ walk ─▶ keywords/* ─▶ faults (which one speaks) ─▶ repr
//!   params ─▶ survey (depth, numbers) ──────────┘             │  └─▶ pattern (Python's `re`, a subset)
//!                                                             └─▶ refs (`#/…` only)
//! ```
//!
//! It does what Skillware's `BaseSkill.validate_params` does, so that a call that can't succeed is answered
//! without a cell. It is not a general validator: whatever it can't answer exactly as the guest would is
//! [`Verdict::Undecided`], never a guess. Schema and params are hostile: depth and work are bounded, and no
//! regular expression backtracks.

mod datum;
mod draft;
mod faults;
mod keywords;
mod number;
mod pattern;
mod refs;
mod repr;
mod shape;
mod survey;
#[cfg(test)]
mod tests;
mod walk;

use serde_json::Value;

/// What the schema says of some params.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    Valid,
    /// `path` is the dotted path as Skillware prints it, `(root)` at the top; `message` is jsonschema's.
    Invalid {
        path: String,
        message: String,
    },
    /// Only the guest's own validator can decide; the caller lets the cell validate.
    Undecided {
        why: String,
    },
}

/// Why only the guest can decide.
#[derive(Debug, thiserror::Error)]
enum Doubt {
    #[error("the params are not an object")]
    NotAnObject,
    #[error("the {0} nests too deep")]
    Depth(&'static str),
    #[error("the check takes more than {0} steps")]
    Work(u64),
    #[error("a number has more than {0} digits")]
    Digits(usize),
    #[error("`$schema` names a dialect that is not known here")]
    Dialect,
    #[error("`{0}` is not what the metaschema wants, or not what is known of it here")]
    Shape(String),
    #[error("`$ref` `{0}` is not a plain pointer into a schema without other identifiers")]
    Reference(String),
    #[error("`{0}` is not evaluated here")]
    Keyword(&'static str),
    #[error("jsonschema itself fails at this use of `{0}`")]
    Breaks(&'static str),
    #[error("the regular expression `{0}` is not in the subset that means the same here")]
    Pattern(String),
    #[error("a text has a character that came after Unicode 14")]
    Text,
}

impl Doubt {
    /// What a doubt quotes comes from a stranger, and may be long.
    fn brief(text: &str) -> String {
        text.chars().take(80).collect()
    }
}

/// Why a walk ended early: it only wanted to know whether there is a fault, or it is in doubt.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error("a fault was found")]
    Found,
    #[error(transparent)]
    Doubt(#[from] Doubt),
}

/// The work that one check may do. A step is some tens of nanoseconds.
struct Steps {
    left: u64,
}

impl Steps {
    const LIMIT: u64 = 2_000_000;

    fn new() -> Self {
        Self { left: Self::LIMIT }
    }

    fn spend(&mut self, steps: usize) -> Result<(), Doubt> {
        let left = self.left.checked_sub(steps as u64);
        self.left = left.ok_or(Doubt::Work(Self::LIMIT))?;
        Ok(())
    }
}

/// Checks `params` against `schema`, the manifest's `parameters` as they are: Skillware neither merges nor
/// normalises them, and takes whatever is empty or not a mapping for "no schema".
pub fn check(schema: &Value, params: &Value) -> Verdict {
    if schema.as_object().is_none_or(|keywords| keywords.is_empty()) {
        return Verdict::Valid;
    }
    match decide(schema, params) {
        Ok(None) => Verdict::Valid,
        Ok(Some((path, message))) => Verdict::Invalid { path, message },
        Err(stop) => Verdict::Undecided { why: stop.to_string() },
    }
}

fn decide(schema: &Value, params: &Value) -> Result<Option<(String, String)>, Stop> {
    if !params.is_object() {
        // Skillware answers this itself, in words that name the Python type.
        return Err(Doubt::NotAnObject.into());
    }
    let mut steps = Steps::new();
    survey::survey(schema, "schema", &mut steps)?;
    survey::survey(params, "params", &mut steps)?;
    let draft = draft::Draft::of(schema)?;
    shape::well_formed(schema, draft, &mut steps)?;
    match walk::Walk::new(schema, draft, steps).best(schema, params)? {
        None => Ok(None),
        Some(fault) => Ok(Some((fault.dotted_path(), fault.message()?))),
    }
}
