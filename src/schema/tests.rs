//! Messages as jsonschema 4.17.3 words them; each was compared with the original.

use super::{Verdict, check};
use serde_json::{Value, json};

fn fault(schema: Value, params: Value) -> (String, String) {
    match check(&schema, &params) {
        Verdict::Invalid { path, message } => (path, message),
        other => panic!("{schema} said {other:?} of {params}"),
    }
}

/// The message about the one property `a`.
fn message(schema: Value, value: Value) -> String {
    let (path, message) = fault(json!({ "properties": { "a": schema } }), json!({ "a": value }));
    assert!(path.starts_with('a'), "{path}");
    message
}

fn is_valid(schema: Value, params: Value) -> bool {
    check(&schema, &params) == Verdict::Valid
}

fn is_undecided(schema: Value, params: Value) -> bool {
    matches!(check(&schema, &params), Verdict::Undecided { .. })
}

fn number(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON number")
}

#[track_caller]
fn assert_fault(schema: Value, params: Value, path: &str, message: &str) {
    assert_eq!(fault(schema, params), (path.into(), message.into()));
}

#[test]
fn missing_property_is_reported_at_the_root() {
    let schema = json!({ "type": "object", "required": ["target_url"] });
    assert_fault(schema, json!({}), "(root)", "'target_url' is a required property");
}

#[test]
fn enum_message_lists_the_values_as_python_prints_them() {
    let schema = json!({ "properties": { "render_mode": { "enum": [false, "auto", "force"] } } });
    let words = "'off' is not one of [False, 'auto', 'force']";
    assert_fault(schema, json!({ "render_mode": "off" }), "render_mode", words);
}

#[test]
fn no_schema_accepts_everything_even_what_is_no_object() {
    for schema in [json!(null), json!({}), json!(false), json!(["x"])] {
        assert!(is_valid(schema, json!([1])));
    }
}

#[test]
fn params_that_are_no_object_are_left_to_skillware() {
    assert!(is_undecided(json!({ "type": "object" }), json!([])));
}

#[test]
fn path_is_dotted_through_keys_and_indexes() {
    let schema = json!({ "properties": { "a": { "items": { "properties": { "b": { "type": "null" } } } } } });
    assert_fault(schema, json!({ "a": [{}, { "b": 1 }] }), "a.1.b", "1 is not of type 'null'");
}

#[test]
fn empty_key_prints_as_the_root() {
    let schema = json!({ "properties": { "": { "type": "null" } } });
    assert_fault(schema, json!({ "": 1 }), "(root)", "1 is not of type 'null'");
}

#[test]
fn quotes_are_chosen_and_escaped_as_in_python() {
    let of = |text: &str| message(json!({ "type": "null" }), json!(text)).replace(" is not of type 'null'", "");
    assert_eq!(of("it's"), r#""it's""#);
    assert_eq!(of("it's \"so\""), r#"'it\'s "so"'"#);
    assert_eq!(of("\\\n\u{0}\u{7f}\u{a0}\u{200b}\u{e0001}é😀"), r"'\\\n\x00\x7f\xa0\u200b\U000e0001é😀'");
}

#[test]
fn character_newer_than_the_oldest_guest_is_undecided_only_in_a_message() {
    let schema = json!({ "properties": { "a": { "type": "string", "maxLength": 1 } } });
    assert!(is_valid(schema.clone(), json!({ "a": "\u{1fae8}" })));
    assert!(is_undecided(schema, json!({ "a": "\u{1fae8}!" })));
}

#[test]
fn containers_print_as_python_literals() {
    let words = message(json!({ "type": "string" }), json!({ "k": [null, true, 1.5, {}] }));
    assert_eq!(words, "{'k': [None, True, 1.5, {}]} is not of type 'string'");
}

#[test]
fn numbers_print_as_python_prints_them() {
    let of = |text| message(json!({ "type": ["null", "string"] }), number(text));
    for (text, printed) in [
        ("-0", "0"),
        ("1e16", "1e+16"),
        ("1E15", "1000000000000000.0"),
        ("0.00001", "1e-05"),
        ("-0.0", "-0.0"),
        ("1e999", "inf"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
    ] {
        assert_eq!(of(text), format!("{printed} is not of type 'null', 'string'"));
    }
}

#[test]
fn integers_and_doubles_compare_exactly() {
    let schema = json!({ "minimum": number("9007199254740993") });
    let words = "9007199254740992.0 is less than the minimum of 9007199254740993";
    assert_eq!(message(schema, number("9007199254740992.0")), words);
}

#[test]
fn whole_double_is_an_integer_but_a_boolean_is_not() {
    let schema = json!({ "properties": { "a": { "type": "integer" } } });
    assert!(is_valid(schema.clone(), json!({ "a": 1.0 })));
    assert_fault(schema, json!({ "a": true }), "a", "True is not of type 'integer'");
}

#[test]
fn whole_double_is_no_integer_in_draft_4() {
    let draft = "http://json-schema.org/draft-04/schema#";
    let schema = json!({ "$schema": draft, "properties": { "a": { "type": "integer" } } });
    assert_fault(schema, json!({ "a": 1.0 }), "a", "1.0 is not of type 'integer'");
}

#[test]
fn enum_tells_true_from_1_but_not_inside_a_list() {
    assert_eq!(message(json!({ "enum": [true] }), json!(1)), "1 is not one of [True]");
    assert!(is_valid(json!({ "properties": { "a": { "enum": [[true]] } } }), json!({ "a": [1] })));
    assert_eq!(message(json!({ "const": [true] }), json!([1])), "[True] was expected");
}

#[test]
fn multiple_of_rounds_as_python_does() {
    assert_eq!(message(json!({ "multipleOf": 0.1 }), json!(0.3)), "0.3 is not a multiple of 0.1");
    assert_eq!(message(json!({ "multipleOf": 2 }), json!(7.0)), "7.0 is not a multiple of 2");
}

#[test]
fn length_counts_code_points() {
    assert!(is_valid(json!({ "properties": { "a": { "maxLength": 2 } } }), json!({ "a": "😀é" })));
    assert_eq!(message(json!({ "maxLength": 1 }), json!("😀é")), "'😀é' is too long");
}

#[test]
fn unexpected_properties_are_sorted() {
    let schema = json!({ "properties": { "a": {} }, "additionalProperties": false });
    let words = "Additional properties are not allowed ('b', 'c' were unexpected)";
    assert_fault(schema, json!({ "c": 1, "a": 1, "b": 1 }), "(root)", words);
}

#[test]
fn unexpected_properties_beside_patterns_name_the_patterns() {
    let schema = json!({ "patternProperties": { "^y": {}, "^x": {} }, "additionalProperties": false });
    let words = "'b' does not match any of the regexes: '^x', '^y'";
    assert_fault(schema, json!({ "x1": 1, "b": 1 }), "(root)", words);
}

#[test]
fn uniqueness_overlooks_what_sorting_parts() {
    assert_eq!(message(json!({ "uniqueItems": true }), json!([1, 1.0])), "[1, 1.0] has non-unique elements");
    let schema = json!({ "properties": { "a": { "uniqueItems": true } } });
    assert!(is_valid(schema, json!({ "a": [[1], [true], [1]] })));
}

#[test]
fn contains_counts_its_matches() {
    let schema = json!({ "contains": { "type": "integer" }, "minContains": 2, "maxContains": 2 });
    let few = "Too few items match the given schema (expected at least 2 but only 1 matched)";
    assert_eq!(message(schema.clone(), json!([1])), few);
    let none = "['x'] does not contain items matching the given schema";
    assert_eq!(message(schema.clone(), json!(["x"])), none);
    let many = "Too many items match the given schema (expected at most 2)";
    assert_eq!(message(schema, json!([1, 2, 3])), many);
}

#[test]
fn shallow_fault_beats_an_earlier_deep_one() {
    let schema = json!({ "properties": { "a": { "type": "null" } }, "required": ["b"] });
    assert_fault(schema, json!({ "a": 1 }), "(root)", "'b' is a required property");
}

#[test]
fn deepest_branch_of_any_of_speaks_unless_two_tie() {
    let x = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    let schema = json!({ "properties": { "a": { "anyOf": [{ "type": "string" }, x] } } });
    assert_fault(schema, json!({ "a": { "x": "s" } }), "a.x", "'s' is not of type 'integer'");
    let tie = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
    assert_eq!(message(tie, json!(1)), "1 is not valid under any of the given schemas");
}

#[test]
fn one_of_names_the_first_match_last() {
    let schema = json!({ "oneOf": [{ "minimum": 1 }, { "type": "null" }, { "minimum": 2 }] });
    assert_eq!(message(schema, json!(5)), "5 is valid under each of {'minimum': 2}, {'minimum': 1}");
}

#[test]
fn condition_and_dependencies_follow_their_draft() {
    let schema = json!({ "if": { "required": ["a"] }, "else": { "required": ["b"] } });
    assert_fault(schema, json!({}), "(root)", "'b' is a required property");
    let mut schema = json!({ "dependencies": { "a": ["b"] } });
    assert!(is_valid(schema.clone(), json!({ "a": 1 })));
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert_fault(schema, json!({ "a": 1 }), "(root)", "'b' is a dependency of 'a'");
}

#[test]
fn items_after_the_prefix_may_be_forbidden() {
    let schema = json!({ "prefixItems": [{}], "items": false });
    assert_eq!(message(schema, json!([1, 2])), "Expected at most 1 items, but found 2");
}

#[test]
fn local_reference_is_followed_and_a_remote_one_is_not() {
    let mut schema = json!({ "properties": { "a": { "$ref": "#/$defs/x" } }, "$defs": { "x": false } });
    assert_fault(schema.clone(), json!({ "a": 1 }), "a", "False schema does not allow 1");
    schema["properties"]["a"]["$ref"] = json!("https://example.com/x");
    assert!(is_undecided(schema, json!({ "a": 1 })));
}

#[test]
fn pattern_searches_and_dollar_looks_past_a_newline() {
    assert!(is_valid(json!({ "properties": { "a": { "pattern": "b$" } } }), json!({ "a": "ab\n" })));
    assert_eq!(message(json!({ "pattern": r"^\w$" }), json!("-")), r"'-' does not match '^\\w$'");
}

#[test]
fn pattern_outside_the_subset_is_undecided() {
    for pattern in ["(?=a)", r"(a)\1", "(?i)a", "a++", "a$b", "(", r"\p{L}", "((a{100}){100}){100}"] {
        let schema = json!({ "properties": { "a": { "pattern": pattern } } });
        assert!(is_undecided(schema, json!({ "a": "x" })), "{pattern}");
    }
}

#[test]
fn what_is_no_schema_is_undecided() {
    for schema in [
        json!({ "type": "text" }),
        json!({ "properties": { "a": { "required": true } } }),
        json!({ "items": [{}] }),
        json!({ "minLength": -1 }),
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "enum": [1, 1.0] }),
    ] {
        assert!(is_undecided(schema.clone(), json!({})), "{schema}");
    }
}

#[test]
fn unevaluated_properties_are_undecided_where_they_matter() {
    let schema = json!({ "properties": { "a": { "unevaluatedProperties": false } } });
    assert!(is_valid(schema.clone(), json!({ "a": 1 })));
    assert!(is_undecided(schema, json!({ "a": {} })));
}

#[test]
fn endless_and_explosive_schemas_end_undecided() {
    assert!(is_undecided(json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }), json!({})));
    let mut schema = json!({ "$ref": "#/$defs/0", "$defs": { "20": { "type": "null" } } });
    for level in 0..20 {
        let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
        schema["$defs"][level.to_string()] = json!({ "anyOf": [next, next, next] });
    }
    assert!(is_undecided(schema, json!({})));
}
