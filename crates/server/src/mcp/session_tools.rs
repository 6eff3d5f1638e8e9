//! Sessions as models have them: a handle that the server mints and that goes in as an ordinary argument. A tool takes `new`, or
//! the handle that it told before; one more tool closes a session. Only where the operator offers that: most skills keep
//! nothing, and every argument that is shown is one that models fill in.
//!
//! Programs do without the argument: they name the session in `_meta`, as [`META_KEY`].

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool};
use serde_json::{Value, json};

use super::answer::fail;
use crate::{Client, OpenedSession, Service};

/// The argument of a tool.
const ARGUMENT: &str = "skillcell_session";
/// Where a program names a session, and where an answer has its handle.
pub const META_KEY: &str = "skillcell/session";
/// The tool that closes sessions.
pub const CLOSE_SESSION: &str = "close_skill_session";
/// What asks for a session of its own.
const NEW_SESSION: &str = "new";

/// Shows the argument in a tool's schema, unless its skill has one by that name.
pub fn show_argument(tool: &mut Tool) {
    let mut schema = JsonObject::clone(&tool.input_schema);
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let about =
        "`new` keeps this call's state for later ones: the answer has a handle to give here. Leave it out otherwise";
    properties.entry(ARGUMENT).or_insert_with(|| json!({"type": "string", "title": "Session", "description": about}));
    tool.input_schema = Arc::new(schema);
}

/// Takes the argument out of a call's arguments, if it is ours and not the skill's own.
pub fn take_argument(has_own: bool, arguments: &mut JsonObject) -> Result<Option<String>, String> {
    if has_own {
        return Ok(None);
    }
    match arguments.remove(ARGUMENT) {
        // What models give for nothing.
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`{ARGUMENT}` must be a text: `{NEW_SESSION}`, or the handle of a session")),
    }
}

/// Whether a skill's own schema has the argument's name.
pub fn has_own_argument(parameters: Option<&Value>) -> bool {
    parameters.and_then(|schema| schema.get("properties")?.get(ARGUMENT)).is_some()
}

/// The tool that closes a session.
pub fn close_tool() -> Tool {
    let about = "Ends a session that a tool of this server opened, and forgets what it kept.";
    let session = json!({"type": "string", "description": format!("The handle that was given to `{ARGUMENT}`")});
    let schema = json!({"type": "object", "required": ["session"], "properties": {"session": session}});
    Tool::new(CLOSE_SESSION, about, Arc::new(schema.as_object().cloned().unwrap_or_default()))
        .with_title("Close a session")
}

/// Closes the session that is named in these arguments.
pub fn close_session(service: &Service, client: &Client, arguments: &JsonObject) -> CallToolResult {
    let handle = arguments.get("session").and_then(Value::as_str).unwrap_or_default();
    match service.sessions().close_by_handle(client, handle) {
        Ok(()) => CallToolResult::success(vec![ContentBlock::text("The session is closed.")]),
        Err(error) => fail(error.to_string()),
    }
}

/// The session of one call.
pub struct CallSession {
    handle: String,
    /// Of one that this call opens.
    opened: Option<OpenedSession>,
    /// Whether a model asked, and has to be told in words.
    is_models: bool,
}

impl CallSession {
    /// The session that a call asks for by its argument, or else in its `_meta`.
    pub fn begin(
        service: &Service,
        client: &Client,
        skill: &str,
        argument: Option<String>,
        meta: Option<String>,
    ) -> Result<Option<CallSession>, String> {
        let is_models = argument.is_some();
        let Some(handle) = argument.or(meta) else { return Ok(None) };
        if handle != NEW_SESSION {
            return Ok(Some(CallSession { handle, opened: None, is_models }));
        }
        let opened = service.open_session(client, skill).map_err(|error| error.to_string())?;
        Ok(Some(CallSession { handle: opened.handle().to_owned(), opened: Some(opened), is_models }))
    }

    /// What the call names it by.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// The call was made: the session stays, and the answer has its handle.
    pub fn keep(self, answer: &mut CallToolResult) {
        if let Some(opened) = self.opened {
            opened.keep();
            if self.is_models {
                let note = format!("Session: {}. Give it as `{ARGUMENT}` to go on in this session.", self.handle);
                answer.content.push(ContentBlock::text(note));
            }
        }
        answer
            .meta
            .get_or_insert_with(|| MetaObject(JsonObject::new()))
            .0
            .insert(META_KEY.to_owned(), json!(self.handle));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> JsonObject {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn the_argument_is_taken_out_of_what_the_skill_gets() {
        let mut arguments = object(json!({"a": 1, ARGUMENT: "new"}));
        assert_eq!(take_argument(false, &mut arguments), Ok(Some("new".to_owned())));
        assert_eq!(arguments, object(json!({"a": 1})));
        for nothing in [json!(null), json!("")] {
            assert_eq!(take_argument(false, &mut object(json!({ARGUMENT: nothing}))), Ok(None));
        }
        assert!(take_argument(false, &mut object(json!({ARGUMENT: 5}))).is_err());
    }

    #[test]
    fn a_skills_own_argument_of_that_name_stays_its_own() {
        let schema = json!({"type": "object", "properties": {ARGUMENT: {"type": "integer"}}});
        assert!(has_own_argument(Some(&schema)) && !has_own_argument(Some(&json!({"properties": {}}))));
        let mut arguments = object(json!({ARGUMENT: 5}));
        assert_eq!(take_argument(true, &mut arguments), Ok(None));
        assert_eq!(arguments[ARGUMENT], 5);
        let mut tool = Tool::new("x", "", Arc::new(object(schema)));
        show_argument(&mut tool);
        assert_eq!(tool.input_schema["properties"][ARGUMENT], json!({"type": "integer"}));
    }
}
