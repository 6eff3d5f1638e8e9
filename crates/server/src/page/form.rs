//! The fields of a form, from the JSON Schema of a skill's params; and params, from what was filled in. No markup here.
//!
//! The schema is the skill's, so it is hostile: fields, options and texts are counted. What it asks for is not checked here:
//! params go the way of every call's.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use skillcell_quote::cut;

/// More than a person fills in.
const MAX_FIELDS: usize = 64;
const MAX_OPTIONS: usize = 200;
const MAX_NAME_CHARS: usize = 80;
const MAX_TEXT_CHARS: usize = 400;

/// What a person fills in, by the name of the field.
pub type Filled = BTreeMap<String, String>;
/// What is wrong with what was filled in, by the name of the field.
pub type Mistakes = BTreeMap<String, String>;

/// One param.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// In the form: by place, so that nothing of the skill's is a name there.
    pub name: String,
    /// The param.
    pub key: String,
    /// The param as it is shown.
    pub label: String,
    pub description: Option<String>,
    /// What the skill takes if it is not given, as JSON.
    pub default: Option<String>,
    pub is_required: bool,
    pub input: Input,
}

/// How a param is filled in.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Text,
    Number,
    Truth,
    /// One of these, which are sent by place.
    Choice(Vec<Value>),
    /// Whatever else there is, as JSON.
    Json,
}

/// The fields for a schema, and whether it has more than are shown.
pub fn read_fields(schema: Option<&Value>) -> (Vec<Field>, bool) {
    let Some(properties) = schema.and_then(|schema| schema.get("properties")?.as_object()) else {
        return (Vec::new(), false);
    };
    let required = schema.and_then(|schema| schema.get("required")?.as_array());
    let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|one| one == key));
    let named = properties.iter().take(MAX_FIELDS).enumerate();
    let fields = named.map(|(place, (key, schema))| read_field(place, key, schema, is_required(key)));
    (fields.collect(), properties.len() > MAX_FIELDS)
}

fn read_field(place: usize, key: &str, schema: &Value, is_required: bool) -> Field {
    let text = |name: &str| schema.get(name).and_then(Value::as_str).map(|text| cut(text, MAX_TEXT_CHARS));
    Field {
        name: format!("f{place}"),
        key: key.to_owned(),
        label: cut(key, MAX_NAME_CHARS),
        description: text("description").or_else(|| text("title")),
        default: schema.get("default").map(|value| cut(&value.to_string(), MAX_NAME_CHARS)),
        is_required,
        input: choose_input(schema),
    }
}

fn choose_input(schema: &Value) -> Input {
    if let Some(options) = schema.get("enum").and_then(Value::as_array)
        && (1..=MAX_OPTIONS).contains(&options.len())
    {
        return Input::Choice(options.clone());
    }
    match sole_type(schema) {
        Some("string") => Input::Text,
        Some("integer" | "number") => Input::Number,
        Some("boolean") => Input::Truth,
        _ => Input::Json,
    }
}

/// Its type, if it is one, or one and null.
fn sole_type(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let mut others = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            others.next().filter(|_| others.next().is_none())
        }
        _ => None,
    }
}

/// The params as JSON text. What is optional and left empty is not given.
pub fn make_params(fields: &[Field], filled: &Filled) -> Result<String, Mistakes> {
    let (mut params, mut mistakes) = (Map::new(), Mistakes::new());
    for field in fields {
        let text = filled.get(&field.name).map_or("", String::as_str);
        // A required text may be an empty one; whatever else is empty is not there, and the skill's schema says so.
        if text.is_empty() && !(field.is_required && field.input == Input::Text) {
            continue;
        }
        match read_value(&field.input, text) {
            Ok(value) => drop(params.insert(field.key.clone(), value)),
            Err(mistake) => drop(mistakes.insert(field.name.clone(), mistake)),
        }
    }
    if mistakes.is_empty() { Ok(Value::Object(params).to_string()) } else { Err(mistakes) }
}

fn read_value(input: &Input, text: &str) -> Result<Value, String> {
    let wrong = |what: &str| format!("this is not {what}");
    match input {
        // A browser sends line ends as CR LF.
        Input::Text => Ok(Value::String(text.replace("\r\n", "\n"))),
        Input::Number => read_number(text.trim()).ok_or_else(|| wrong("a number")),
        Input::Truth => text.parse().map(Value::Bool).map_err(|_| wrong("true or false")),
        Input::Choice(options) => {
            let option = text.parse::<usize>().ok().and_then(|place| options.get(place));
            option.cloned().ok_or_else(|| wrong("one of the options"))
        }
        Input::Json => serde_json::from_str(text).map_err(|error| format!("{}: {error}", wrong("JSON"))),
    }
}

/// Digit for digit if it is a number in JSON; else as a person may write it, such as `.5`.
fn read_number(text: &str) -> Option<Value> {
    let exact = serde_json::from_str::<Number>(text).ok();
    exact.or_else(|| Number::from_f64(text.parse().ok()?)).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(pairs: &[(&str, &str)]) -> Filled {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_field_for_each_kind_of_param_gives_it_back() {
        let schema = json!({"required": ["t", "n"], "properties": {
            "t": {"type": "string", "description": "words"}, "n": {"type": ["integer", "null"], "default": 3},
            "b": {"type": "boolean"}, "c": {"enum": ["x", 7, null]}, "j": {"type": "array"}, "o": {"type": "string"},
        }});
        let (fields, is_cut) = read_fields(Some(&schema));
        let inputs: Vec<&Input> = fields.iter().map(|field| &field.input).collect();
        let choice = Input::Choice(vec![json!("x"), json!(7), json!(null)]);
        assert_eq!(inputs, [&Input::Text, &Input::Number, &Input::Truth, &choice, &Input::Json, &Input::Text]);
        assert_eq!((fields[1].default.as_deref(), fields[1].is_required, is_cut), (Some("3"), true, false));
        let all = filled(&[
            ("f0", "a\r\nb"),
            ("f1", "123456789012345678901234567890"),
            ("f2", "false"),
            ("f3", "1"),
            ("f4", "[1]"),
        ]);
        let params = make_params(&fields, &all).unwrap();
        assert_eq!(params, r#"{"t":"a\nb","n":123456789012345678901234567890,"b":false,"c":7,"j":[1]}"#);
        assert_eq!(make_params(&fields, &Filled::new()).unwrap(), r#"{"t":""}"#);
    }

    #[test]
    fn what_is_no_such_value_is_told_by_field() {
        let schema =
            json!({"properties": {"n": {"type": "number"}, "b": {"type": "boolean"}, "c": {"enum": [1]}, "j": {}}});
        let (fields, _) = read_fields(Some(&schema));
        let wrong = filled(&[("f0", "many"), ("f1", "maybe"), ("f2", "1"), ("f3", "{")]);
        let mistakes = make_params(&fields, &wrong).unwrap_err();
        assert_eq!(mistakes.keys().collect::<Vec<_>>(), ["f0", "f1", "f2", "f3"]);
        assert_eq!(make_params(&fields, &filled(&[("f0", ".5")])).unwrap(), r#"{"n":0.5}"#);
    }

    #[test]
    fn a_hostile_schema_has_no_more_fields_and_words_than_a_person_reads() {
        let many: Map<String, Value> =
            (0..1000).map(|n| (format!("p{n}\u{202e}"), json!({"description": "x".repeat(5000)}))).collect();
        let (fields, is_cut) = read_fields(Some(&json!({"properties": many})));
        assert_eq!((fields.len(), is_cut), (MAX_FIELDS, true));
        assert!(
            fields[0].label.is_ascii() && fields[0].description.as_ref().unwrap().chars().count() <= MAX_TEXT_CHARS + 1
        );
        let options: Vec<usize> = (0..1000).collect();
        assert_eq!(choose_input(&json!({"enum": options, "type": "integer"})), Input::Number);
        for odd in [json!(null), json!(3), json!({"properties": []}), json!({"properties": {"a": 3}, "required": "a"})]
        {
            read_fields(Some(&odd));
        }
    }
}
