//! What jsonschema 4.17.3 says of each; all were compared with the original. A doubt is right where it is one.

use super::{Doubt, is_valid};
use serde_json::{Value, json};

#[track_caller]
fn assert_valid(schema: Value, params: Value) {
    assert_eq!(is_valid(&schema, &params), Ok(true), "{schema} of {params}");
}

#[track_caller]
fn assert_invalid(schema: Value, params: Value) {
    assert_eq!(is_valid(&schema, &params), Ok(false), "{schema} of {params}");
}

#[track_caller]
fn assert_doubt(schema: Value, params: Value) {
    assert_eq!(is_valid(&schema, &params), Err(Doubt), "{schema} of {params}");
}

/// The verdict on the one property `a`.
fn of_value(schema: Value, value: Value) -> Result<bool, Doubt> {
    is_valid(&json!({ "properties": { "a": schema } }), &json!({ "a": value }))
}

fn number(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON number")
}

#[test]
fn no_schema_accepts_everything_even_what_is_no_object() {
    for schema in [json!(null), json!({}), json!(false), json!(["x"])] {
        assert_valid(schema, json!([1]));
    }
}

#[test]
fn params_that_are_no_object_are_not_valid() {
    assert_invalid(json!({ "title": "anything" }), json!([]));
}

#[test]
fn required_property_has_to_be_there() {
    let schema = json!({ "type": "object", "required": ["target_url"] });
    assert_invalid(schema.clone(), json!({}));
    assert_valid(schema, json!({ "target_url": null }));
}

#[test]
fn places_below_are_reached_through_keys_and_indexes() {
    let schema = json!({ "properties": { "a": { "items": { "properties": { "b": { "type": "null" } } } } } });
    assert_invalid(schema.clone(), json!({ "a": [{}, { "b": 1 }] }));
    assert_valid(schema, json!({ "a": [{}, { "b": null }] }));
}

#[test]
fn integers_and_doubles_compare_exactly() {
    let of = |least: &str, value: &str| of_value(json!({ "minimum": number(least) }), number(value));
    assert_eq!(of("9007199254740993", "9007199254740992.0"), Ok(false));
    assert_eq!(of("9007199254740992", "9007199254740992.0"), Ok(true));
    assert_eq!(of("18446744073709551615", "9223372036854775807"), Ok(false));
    assert_eq!(of("9223372036854774784.0", "9223372036854775807"), Ok(true));
    // What may be another number to Python is Python's, whatever features serde_json has.
    for (least, value) in [("1", "18446744073709551616"), ("-1e19", "1"), ("1e999", "1"), ("0", "-0.0")] {
        // Without `arbitrary_precision` 1e999 is no number at all.
        if serde_json::from_str::<Value>(least).is_ok() {
            assert_eq!(of(least, value), Err(Doubt), "{least} {value}");
        }
    }
    assert_eq!(of("-2", "-2.5"), Ok(false));
    assert_eq!(of("-3", "-2.5"), Ok(true));
    assert_eq!(of("2.5", "2"), Ok(false));
}

#[test]
fn exclusive_bounds_follow_their_draft() {
    assert_eq!(of_value(json!({ "exclusiveMinimum": 1 }), json!(1.0)), Ok(false));
    assert_eq!(of_value(json!({ "exclusiveMaximum": 1 }), json!("x")), Ok(true));
    let draft = "http://json-schema.org/draft-04/schema#";
    let schema = json!({ "$schema": draft, "properties": { "a": { "maximum": 1, "exclusiveMaximum": true } } });
    assert_invalid(schema.clone(), json!({ "a": 1 }));
    assert_valid(schema, json!({ "a": 0 }));
}

#[test]
fn number_that_is_too_long_is_a_doubt() {
    let integer = json!({ "type": "integer" });
    assert_eq!(of_value(integer.clone(), number(&"1".repeat(20))), Ok(true));
    assert_eq!(of_value(integer, number(&"1".repeat(21))), Err(Doubt));
}

#[test]
fn whole_double_is_an_integer_but_a_boolean_is_not() {
    assert_eq!(of_value(json!({ "type": "integer" }), json!(1.0)), Ok(true));
    assert_eq!(of_value(json!({ "type": "integer" }), json!(true)), Ok(false));
}

#[test]
fn whole_double_is_no_integer_in_draft_4() {
    let draft = "http://json-schema.org/draft-04/schema#";
    let schema = json!({ "$schema": draft, "properties": { "a": { "type": "integer" } } });
    assert_invalid(schema, json!({ "a": 1.0 }));
}

#[test]
fn booleans_that_meet_0_or_1_are_a_doubt() {
    assert_eq!(of_value(json!({ "enum": [true] }), json!(1)), Err(Doubt));
    assert_eq!(of_value(json!({ "enum": [[true]] }), json!([1])), Err(Doubt));
    assert_eq!(of_value(json!({ "const": [true] }), json!([1])), Err(Doubt));
    assert_eq!(of_value(json!({ "uniqueItems": true }), json!([1, true])), Err(Doubt));
    assert_eq!(of_value(json!({ "enum": [1, true] }), json!(true)), Ok(true));
    assert_eq!(of_value(json!({ "enum": [false, "auto"] }), json!(false)), Ok(true));
    assert_eq!(of_value(json!({ "enum": [false, "auto"] }), json!("off")), Ok(false));
}

#[test]
fn multiple_of_rounds_as_python_does() {
    assert_eq!(of_value(json!({ "multipleOf": 0.1 }), json!(0.3)), Ok(false));
    assert_eq!(of_value(json!({ "multipleOf": 0.5 }), json!(7)), Ok(true));
    assert_eq!(of_value(json!({ "multipleOf": 2 }), json!(7.0)), Ok(false));
    assert_eq!(of_value(json!({ "multipleOf": 1e-300 }), json!(1e300)), Err(Doubt));
}

#[test]
fn length_counts_code_points() {
    assert_eq!(of_value(json!({ "maxLength": 2 }), json!("😀é")), Ok(true));
    assert_eq!(of_value(json!({ "maxLength": 1 }), json!("😀é")), Ok(false));
}

#[test]
fn unexpected_properties_are_those_that_neither_names_nor_patterns_cover() {
    let schema = json!({ "properties": { "a": {} }, "patternProperties": { "^x": {} }, "additionalProperties": false });
    assert_valid(schema.clone(), json!({ "a": 1, "x1": 1 }));
    assert_invalid(schema, json!({ "a": 1, "b": 1 }));
}

#[test]
fn equal_items_are_a_doubt() {
    assert_eq!(of_value(json!({ "uniqueItems": true }), json!([1, "1", [1], { "a": 1 }])), Ok(true));
    // jsonschema says no to the first and yes to the second.
    assert_eq!(of_value(json!({ "uniqueItems": true }), json!([1, 1.0])), Err(Doubt));
    assert_eq!(of_value(json!({ "uniqueItems": true }), json!([[1], [true], [1]])), Err(Doubt));
}

#[test]
fn contains_counts_its_matches() {
    let schema = json!({ "contains": { "type": "integer" }, "minContains": 2, "maxContains": 2 });
    let of = |value| of_value(schema.clone(), value);
    assert_eq!([of(json!([1])), of(json!(["x", 1, 2])), of(json!([1, 2, 3]))], [Ok(false), Ok(true), Ok(false)]);
}

#[test]
fn one_of_wants_exactly_one_and_any_of_the_first() {
    let schema = json!({ "oneOf": [{ "minimum": 1 }, { "type": "null" }, { "minimum": 2 }] });
    assert_eq!(of_value(schema.clone(), json!(5)), Ok(false));
    assert_eq!(of_value(schema, json!(1)), Ok(true));
    let schema = json!({ "anyOf": [{ "type": "string" }, { "$ref": "https://example.com/x" }] });
    assert_eq!(of_value(schema.clone(), json!("text")), Ok(true));
    assert_eq!(of_value(schema, json!(1)), Err(Doubt));
}

#[test]
fn branch_that_is_wrong_and_breaks_jsonschema_is_a_doubt() {
    // All errors of a branch are gathered, so that the one which is wrong is not enough.
    let breaks = json!({ "type": "string", "multipleOf": 1e-300 });
    assert_eq!(of_value(json!({ "anyOf": [breaks, true] }), json!(1e300)), Err(Doubt));
}

#[test]
fn doubt_is_not_turned_round() {
    assert_eq!(of_value(json!({ "not": { "type": "null" } }), json!(1)), Ok(true));
    assert_eq!(of_value(json!({ "not": { "enum": [true] } }), json!(1)), Err(Doubt));
}

#[test]
fn condition_and_dependencies_follow_their_draft() {
    let schema = json!({ "if": { "required": ["a"] }, "else": { "required": ["b"] } });
    assert_invalid(schema.clone(), json!({}));
    assert_valid(schema, json!({ "a": 1 }));
    let mut schema = json!({ "dependencies": { "a": ["b"] } });
    assert_valid(schema.clone(), json!({ "a": 1 }));
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert_invalid(schema, json!({ "a": 1 }));
}

#[test]
fn items_after_the_prefix_may_be_forbidden() {
    let schema = json!({ "prefixItems": [{}], "items": false });
    assert_eq!(of_value(schema.clone(), json!([1, 2])), Ok(false));
    assert_eq!(of_value(schema, json!([1])), Ok(true));
}

#[test]
fn local_reference_is_followed_and_a_remote_one_is_not() {
    let mut schema = json!({ "properties": { "a": { "$ref": "#/$defs/x" } }, "$defs": { "x": false } });
    assert_invalid(schema.clone(), json!({ "a": 1 }));
    schema["properties"]["a"]["$ref"] = json!("https://example.com/x");
    assert_doubt(schema, json!({ "a": 1 }));
}

#[test]
fn pattern_searches_and_dollar_looks_past_a_newline() {
    assert_eq!(of_value(json!({ "pattern": "b$" }), json!("ab\n")), Ok(true));
    assert_eq!(of_value(json!({ "pattern": r"^\w$" }), json!("-")), Ok(false));
}

#[test]
fn pattern_outside_the_subset_and_character_newer_than_the_oldest_guest_are_doubts() {
    for pattern in ["(?=a)", r"(a)\1", "(?i)a", "a++", "a$b", "(", r"\p{L}", "((a{100}){100}){100}"] {
        assert_eq!(of_value(json!({ "pattern": pattern }), json!("x")), Err(Doubt), "{pattern}");
    }
    assert_eq!(of_value(json!({ "pattern": "." }), json!("\u{1fae8}")), Err(Doubt));
}

#[test]
fn what_is_no_schema_is_a_doubt() {
    for schema in [
        json!({ "type": "text" }),
        json!({ "properties": { "a": { "required": true } } }),
        json!({ "items": [{}] }),
        json!({ "minLength": -1 }),
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "enum": [1, 1.0] }),
    ] {
        assert_doubt(schema, json!({}));
    }
}

#[test]
fn unevaluated_properties_are_a_doubt_where_they_matter() {
    assert_eq!(of_value(json!({ "unevaluatedProperties": false }), json!(1)), Ok(true));
    assert_eq!(of_value(json!({ "unevaluatedProperties": false }), json!({})), Err(Doubt));
}

#[test]
fn endless_and_explosive_schemas_end_in_doubt() {
    assert_doubt(json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }), json!({}));
    let mut schema = json!({ "$ref": "#/$defs/0", "$defs": { "20": { "type": "null" } } });
    for level in 0..20 {
        let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
        schema["$defs"][level.to_string()] = json!({ "anyOf": [next, next, next] });
    }
    assert_doubt(schema, json!({}));
}
