//! A manifest's JSON Schema as clients need it: an object of JSON Schema 2020-12, without what makes them drop a tool, or all of them.
//!
//! It is for showing. Params are checked against the manifest's own schema when the call is made, so what is left out here
//! still holds. The schema is a stranger's: depth, size and every text are bounded, and no reference leads out of it.

use serde_json::{Map, Value, json};

use skillcell_quote::{cut, is_plain};

/// The one dialect that is named; another `$schema` is left out, and its keywords are read as this one's.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
const MAX_DEPTH: usize = 24;
/// The longest schema, as JSON; of a longer one only that it is an object is said.
const MAX_BYTES: usize = 64 << 10;
const MAX_TEXT_CHARS: usize = 1000;
const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The input schema of a tool. Clients of the older era pass it on to models whose providers refuse a combination at its top.
pub fn input_schema(parameters: Option<&Value>, is_legacy: bool) -> Map<String, Value> {
    let mut schema = clean_object(parameters);
    if is_legacy {
        ["oneOf", "anyOf", "allOf"].iter().for_each(|keyword| drop(schema.remove(*keyword)));
    }
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}

/// The output schema of a tool, from the manifest's `outputs`: a schema, or what most manifests have, a mapping of names to
/// what they are. A client refuses a result that is not as the schema says, and manifests are loose about types: of a mapping
/// they are told in words. Nothing is `required`, since a result that is too long is replaced by where to read it.
pub fn output_schema(outputs: Option<&Value>) -> Option<Map<String, Value>> {
    let keys = outputs?.as_object().filter(|keys| !keys.is_empty())?;
    let is_schema = keys.get("type").is_some_and(|kind| kind == "object") && keys.contains_key("properties");
    if is_schema {
        let mut schema = clean_object(outputs);
        schema.retain(|keyword, _| matches!(keyword.as_str(), "type" | "properties" | "description" | "$defs"));
        return Some(schema);
    }
    let described = keys.iter().filter(|(name, _)| is_property_name(name)).map(|(name, about)| {
        let kind = about.get("type").and_then(Value::as_str).map(|kind| format!("({kind}) ")).unwrap_or_default();
        let text = about.get("description").and_then(Value::as_str).or(about.as_str()).unwrap_or_default();
        (name.clone(), json!({"description": plain_text(format!("{kind}{text}").trim(), MAX_TEXT_CHARS)}))
    });
    let properties: Map<String, Value> = described.collect();
    let schema = json!({"type": "object", "properties": properties});
    (schema.to_string().len() <= MAX_BYTES).then(|| schema.as_object().cloned()).flatten()
}

/// A stranger's text: what is invisible or steers is left out, line ends stay.
pub fn plain_text(text: &str, chars: usize) -> String {
    let plain: String = text.chars().filter(|c| is_plain(*c) || matches!(c, '\n' | '\t')).collect();
    match plain.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

/// A schema whose top is an object.
fn clean_object(schema: Option<&Value>) -> Map<String, Value> {
    let empty = || Map::from_iter([("type".to_owned(), json!("object"))]);
    let Some(Value::Object(keys)) = schema else { return empty() };
    let mut cleaned = clean_keywords(keys, 0);
    cleaned.insert("type".to_owned(), json!("object"));
    if keys.get("$schema").is_some_and(|dialect| dialect == DIALECT) {
        cleaned.insert("$schema".to_owned(), json!(DIALECT));
    }
    // What is too long for a client says nothing to it.
    if serde_json::to_string(&cleaned).map_or(true, |text| text.len() > MAX_BYTES) { empty() } else { cleaned }
}

fn clean_schema(schema: &Value, depth: usize) -> Value {
    match schema {
        Value::Object(keys) if depth <= MAX_DEPTH => Value::Object(clean_keywords(keys, depth)),
        Value::Bool(false) => json!(false),
        _ => json!({}),
    }
}

fn clean_keywords(keys: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    let mut cleaned: Map<String, Value> = Map::new();
    for (keyword, value) in keys {
        if keyword == "items" && value.is_array() {
            // As drafts before 2020-12 wrote tuples.
            cleaned.extend(clean_list(value, depth).map(|list| ("prefixItems".to_owned(), list)));
        } else if let Some(value) = clean_value(keyword, value, depth) {
            cleaned.insert(keyword.clone(), value);
        }
    }
    forget_dropped(&mut cleaned, keys);
    cleaned
}

/// What a keyword may have; nothing if it is unknown, or has what it may not have.
fn clean_value(keyword: &str, value: &Value, depth: usize) -> Option<Value> {
    match keyword {
        "type" => clean_type(value),
        "properties" => clean_map(value, depth, is_property_name),
        "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => clean_map(value, depth, |_| true),
        "items"
        | "additionalProperties"
        | "not"
        | "contains"
        | "propertyNames"
        | "if"
        | "then"
        | "else"
        | "unevaluatedProperties"
        | "unevaluatedItems" => (value.is_object() || value.is_boolean()).then(|| clean_schema_or_bool(value, depth)),
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => clean_list(value, depth),
        "required" => value.as_array().map(|names| unique_texts(names)),
        "enum" => value.as_array().filter(|values| !values.is_empty()).map(|_| value.clone()),
        "const" | "default" => Some(value.clone()),
        "examples" => value.is_array().then(|| value.clone()),
        "title" | "description" => value.as_str().map(|text| json!(plain_text(text, MAX_TEXT_CHARS))),
        "format" | "pattern" | "$anchor" | "contentEncoding" | "contentMediaType" => {
            value.as_str().map(|text| json!(cut(text, MAX_TEXT_CHARS)))
        }
        // A reference to elsewhere would have clients fetch what a stranger names.
        "$ref" | "$dynamicRef" => value.as_str().filter(|place| place.starts_with('#')).map(|place| json!(place)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            value.is_number().then(|| value.clone())
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => value.as_u64().map(|count| json!(count)),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.as_bool().map(|is| json!(is)),
        _ => None,
    }
}

fn clean_schema_or_bool(value: &Value, depth: usize) -> Value {
    if value.is_boolean() { value.clone() } else { clean_schema(value, depth + 1) }
}

fn clean_type(value: &Value) -> Option<Value> {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::String(_) => is_type(value).then(|| value.clone()),
        Value::Array(types) => {
            let known: Vec<&Value> = types.iter().filter(|value| is_type(value)).collect();
            // One that is unknown may be any: then nothing is said.
            (known.len() == types.len() && !known.is_empty()).then(|| unique_texts(types))
        }
        _ => None,
    }
}

fn clean_map(value: &Value, depth: usize, is_name: impl Fn(&str) -> bool) -> Option<Value> {
    let schemas = value.as_object()?.iter().filter(|(name, _)| is_name(name));
    Some(Value::Object(schemas.map(|(name, schema)| (name.clone(), clean_schema(schema, depth + 1))).collect()))
}

fn clean_list(value: &Value, depth: usize) -> Option<Value> {
    let schemas = value.as_array().filter(|schemas| !schemas.is_empty())?;
    Some(schemas.iter().map(|schema| clean_schema(schema, depth + 1)).collect())
}

fn unique_texts(values: &[Value]) -> Value {
    let mut seen: Vec<&str> = Vec::new();
    for text in values.iter().filter_map(Value::as_str) {
        if !seen.contains(&text) && seen.len() < 1000 {
            seen.push(text);
        }
    }
    json!(seen)
}

/// What providers of models take for the name of a property; with another one, they refuse every tool of the server.
fn is_property_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

/// A property that is not shown can't be required of a model.
fn forget_dropped(cleaned: &mut Map<String, Value>, keys: &Map<String, Value>) {
    let had = keys.get("properties").and_then(Value::as_object);
    let is_dropped = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        !is_property_name(name) && had.is_some_and(|had| had.contains_key(name))
    };
    if let Some(Value::Array(required)) = cleaned.get_mut("required") {
        required.retain(|name| !is_dropped(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(schema: Value) -> Value {
        Value::Object(input_schema(Some(&schema), false))
    }

    #[test]
    fn a_schema_that_is_in_order_stays_as_it_is() {
        let schema = json!({
            "$schema": DIALECT, "type": "object",
            "properties": {"a": {"type": ["string", "null"], "enum": ["x", null]}, "b": {"$ref": "#/$defs/b"},
                "c": {"type": "array", "prefixItems": [{"type": "integer", "minimum": 1}], "items": false}},
            "$defs": {"b": {"$anchor": "b", "type": "object", "additionalProperties": {"type": "number"}}},
            "required": ["a"], "additionalProperties": false, "allOf": [{"if": {"required": ["b"]}, "then": {"required": ["c"]}}],
        });
        assert_eq!(shown(schema.clone()), schema);
    }

    #[test]
    fn it_is_an_object_whatever_the_manifest_says() {
        for parameters in [json!(null), json!([]), json!("x"), json!({"type": "array"}), json!({"type": 3})] {
            let schema = shown(parameters);
            assert_eq!((&schema["type"], &schema["properties"]), (&json!("object"), &json!({})));
        }
        assert_eq!(input_schema(None, true)["type"], "object");
    }

    #[test]
    fn what_clients_choke_on_is_left_out() {
        let schema = shown(json!({
            "$schema": "http://json-schema.org/draft-07/schema#", "$id": "http://example.org/", "x-mcp-header": "Host",
            "properties": {
                "a": {"type": "str", "required": true, "nullable": true, "exclusiveMinimum": true, "description": 5},
                "b": {"$ref": "http://169.254.169.254/"}, "c": true, "d": {"type": "array", "items": [{"type": "integer"}]},
                "no spaces": {"type": "string"}, "e": {"enum": []}, "f": {"description": "a\u{e0041}\u{202e}b\nc"},
            },
            "required": ["a", "a", "no spaces", 7],
        }));
        let expected = json!({
            "type": "object", "required": ["a"],
            "properties": {"a": {}, "b": {}, "c": {}, "d": {"type": "array", "prefixItems": [{"type": "integer"}]},
                "e": {}, "f": {"description": "ab\nc"}},
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn clients_of_the_older_era_get_no_combination_at_the_top() {
        let parameters =
            json!({"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a": {"anyOf": [{}]}}});
        let legacy = input_schema(Some(&parameters), true);
        assert!(!legacy.contains_key("anyOf") && legacy["properties"]["a"].get("anyOf").is_some());
        assert!(input_schema(Some(&parameters), false).contains_key("anyOf"));
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let mut deep = json!({"type": "string"});
        (0..200).for_each(|_| deep = json!({"type": "array", "items": deep}));
        assert!(shown(json!({"properties": {"a": deep}})).to_string().len() < 2000);
        let many: Map<String, Value> = (0..5000).map(|at| (format!("p{at}"), json!({"type": "string"}))).collect();
        assert_eq!(shown(json!({"properties": many})), json!({"type": "object", "properties": {}}));
        let wide = shown(json!({"properties": {"a": {"description": "x".repeat(9000)}}}));
        assert!(wide.to_string().len() < 1200);
    }

    #[test]
    fn outputs_are_shown_without_what_a_loose_manifest_would_get_wrong() {
        let outputs =
            json!({"status": {"type": "str", "description": "ready or error"}, "plain": "a text", "odd name": {}});
        let expected = json!({"type": "object", "properties": {
            "status": {"description": "(str) ready or error"}, "plain": {"description": "a text"}}});
        assert_eq!(output_schema(Some(&outputs)).map(Value::Object), Some(expected));
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
            "additionalProperties": false});
        let expected = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        assert_eq!(output_schema(Some(&schema)).map(Value::Object), Some(expected));
        for none in [json!(null), json!({}), json!([]), json!("text")] {
            assert!(output_schema(Some(&none)).is_none());
        }
    }
}
