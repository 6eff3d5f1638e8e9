//! The check of params: the first line of an input is a schema, the rest the params.
//!
//! Beside not panicking and coming to an end: what holds of a schema must hold of the same schema under `allOf`, and the
//! reverse under `not`, wherever both are decided.

use serde_json::{Value, json};

use super::first_line;
use crate::schema::{Verdict, check};

pub fn run(data: &[u8]) {
    let Some((schema, params)) = first_line(data) else { return };
    let (Ok(schema), Ok(params)) = (serde_json::from_str::<Value>(schema), serde_json::from_slice::<Value>(params))
    else {
        return;
    };
    let verdict = check(&schema, &params);
    assert_eq!(check(&schema, &params), verdict, "the same again");
    let empty = schema.as_object().is_none_or(|keywords| keywords.is_empty());
    assert!(!empty || verdict == Verdict::Valid);
    // Identifiers, references and dialects mean something else one level down.
    if !empty && !schema.to_string().contains('$') {
        let valid = decided(&verdict);
        agree(valid, decided(&check(&json!({ "allOf": [schema] }), &params)), "allOf");
        agree(valid, decided(&check(&json!({ "not": schema }), &params)).map(|valid| !valid), "not");
    }
}

fn decided(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Valid => Some(true),
        Verdict::Invalid { path, message } => {
            assert!(!path.is_empty() && !message.is_empty());
            Some(false)
        }
        Verdict::Undecided { .. } => None,
    }
}

fn agree(one: Option<bool>, other: Option<bool>, keyword: &str) {
    assert!(one.zip(other).is_none_or(|(one, other)| one == other), "under `{keyword}` it is another verdict");
}
