//! The check of params: the first line of an input is a schema, the rest the params.
//!
//! Beside not panicking and coming to an end: what holds of a schema must hold of the same schema under `allOf`, and the
//! reverse under `not`, wherever both are decided.

use serde_json::{Value, json};

use super::first_line;
use skillcell_policy::schema::is_valid;

pub fn run(data: &[u8]) {
    let Some((schema, params)) = first_line(data) else { return };
    let (Ok(schema), Ok(params)) = (serde_json::from_str::<Value>(schema), serde_json::from_slice::<Value>(params))
    else {
        return;
    };
    let valid = is_valid(&schema, &params);
    assert_eq!(is_valid(&schema, &params), valid, "the same again");
    let empty = schema.as_object().is_none_or(|keywords| keywords.is_empty());
    assert!(!empty || valid == Ok(true));
    // Identifiers, references and dialects mean something else one level down.
    if !empty && params.is_object() && !schema.to_string().contains('$') {
        assert_agree(valid.ok(), is_valid(&json!({ "allOf": [schema] }), &params).ok(), "allOf");
        assert_agree(valid.ok(), is_valid(&json!({ "not": schema }), &params).ok().map(|valid| !valid), "not");
    }
}

fn assert_agree(one: Option<bool>, other: Option<bool>, keyword: &str) {
    assert!(one.zip(other).is_none_or(|(one, other)| one == other), "under `{keyword}` it is another verdict");
}
