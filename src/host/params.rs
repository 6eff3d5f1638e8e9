//! Params on their way in: checked against the manifest, then packed for the door.

use serde_json::{Value, json};

use crate::call::{Call, Raised};
use crate::door::Door;
use crate::schema::{self, Verdict};

/// Checks params as Skillware's `validate_params` does, and fails as it would. `true` means that only the skill's own
/// `validate_params` can decide, in the cell.
pub fn check(manifest: &Value, call: &Call) -> Result<bool, Raised> {
    if !call.validate {
        return Ok(false);
    }
    let schema = &manifest["parameters"];
    if !schema.as_object().is_some_and(|schema| !schema.is_empty()) {
        return Ok(false);
    }
    let name = manifest["name"].as_str().unwrap_or("unknown_skill");
    if !call.params().is_object() {
        let kind = python_type(call.params());
        return Err(invalid(format!(
            "Skill '{name}' expects parameter arguments as a JSON object (dict), got {kind}."
        )));
    }
    match schema::check(schema, call.params()) {
        Verdict::Valid => Ok(false),
        Verdict::Undecided { .. } => Ok(true),
        Verdict::Invalid { path, message } => {
            Err(invalid(format!("Skill '{name}' parameter validation failed at '{path}': {message}")))
        }
    }
}

/// jsonschema quotes the whole value; people need its beginning.
const MAX_MESSAGE_BYTES: usize = 64 << 10;

fn invalid(mut message: String) -> Raised {
    message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
    Raised::of_host("skillware.core.base_skill.SkillwareParamValidationError", message)
}

/// What the door hands to the cell. Most calls have nothing but params.
pub fn pack(call: &Call, validate: bool) -> Vec<u8> {
    let params = call.params_json();
    let denied = &call.grants.deny_imports;
    let plain = call.config.is_none() && call.env.is_empty() && denied.is_empty() && !validate;
    let extra = (!plain).then(|| {
        let Call { config, env, secrets, .. } = call;
        json!({"config": config, "env": env, "secrets": secrets, "validate": validate, "deny_imports": denied})
            .to_string()
    });
    Door::pack(params.as_bytes(), extra.as_deref().map(str::as_bytes))
}

fn python_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() || number.is_u64() => "int",
        Value::Number(number) if !number.to_string().contains(['.', 'e', 'E']) => "int",
        Value::Number(_) => "float",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}
