//! The tool `run_skill_script`: scripts of Agent Skills folders, run in cells here instead of on the agent's machine.
//!
//! What a client sends is which script, and what it is given to read. Grants and limits are the operator's, as for every call.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Resource, Tool};
use serde_json::{Value, json};

use super::agent_skill::{AgentSkill, mime_type};
use super::entry::Entry;
use super::held::{HeldResults, PART_BYTES, parts};
use super::resources::result_uri;
use super::schema::plain_text;
use crate::script_body::ScriptBody;
use crate::{Client, ScriptRequest};
use skillcell_host::call::Report;
use skillcell_host::entry::WrittenFile;

/// The tool's name; no skill gets it.
pub const RUN_SCRIPT: &str = "run_skill_script";
const MAX_DESCRIPTION_CHARS: usize = 1000;
/// Scripts that are named in a property's description.
const MAX_NAMED_SCRIPTS: usize = 60;
/// Text files up to this length are in the answer itself, until so many bytes are.
const SMALL_FILE_BYTES: usize = 8 << 10;
const SMALL_FILES_BYTES: usize = 32 << 10;
/// Longer files can be read as resources: so many of one call, and no larger ones.
const MAX_KEPT_FILES: usize = 16;
const MAX_KEPT_BYTES: usize = 16 << 20;
/// Files that are named.
const MAX_NAMED_FILES: usize = 100;

/// What a client asks for: the skill's id, and the script of it.
pub fn read_arguments(mut arguments: JsonObject) -> Result<(String, ScriptRequest), String> {
    let Some(Value::String(skill)) = arguments.remove("skill") else { return Err("`skill` must be a text".to_owned()) };
    if let Some(script) = arguments.remove("script") {
        arguments.insert("path".to_owned(), script);
    }
    let body: ScriptBody = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| format!("the arguments are not `skill`, `script`, `args`, `stdin` and `files`: {error}"))?;
    Ok((skill, body.into_request()?))
}

/// The tool, for who may see these skills. None if none of them has scripts to run.
pub fn script_tool(entries: &[Arc<Entry>]) -> Option<Tool> {
    let skills: Vec<(&str, &AgentSkill)> =
        entries.iter().filter_map(|entry| Some((entry.id.as_str(), entry.agent_skill.as_deref()?))).collect();
    if skills.is_empty() {
        return None;
    }
    let description = plain_text(&describe_skills(&skills), MAX_DESCRIPTION_CHARS);
    let input = Arc::new(input_schema(&skills));
    Some(Tool::new(RUN_SCRIPT, description, input).with_title("Run a script of a skill"))
}

fn describe_skills(skills: &[(&str, &AgentSkill)]) -> String {
    let each = skills.iter().map(|(id, skill)| {
        let about = skill.says("description").unwrap_or_default();
        format!("\n- {id}: {}", plain_text(about.lines().next().unwrap_or_default(), 160))
    });
    format!(
        "Runs a script of a skill in a sandbox, in the place of `python3 SCRIPT ARGS` in the skill's folder. Its SKILL.md, which \
         the prompt and the resource of the skill have, says how; `--help` in args prints a script's usage. Files that it \
         needs are given in `files`; what it writes in its folder is in the answer, and gone after that. Skills:{}",
        each.collect::<String>()
    )
}

fn input_schema(skills: &[(&str, &AgentSkill)]) -> JsonObject {
    let ids: Vec<&str> = skills.iter().map(|(id, _)| *id).collect();
    let scripts =
        skills.iter().flat_map(|(id, skill)| skill.scripts().into_iter().map(move |path| format!("{id}: {path}")));
    let named: Vec<String> = scripts.take(MAX_NAMED_SCRIPTS).map(|name| plain_text(&name, 200)).collect();
    let file = json!({"type": "object", "required": ["path"], "properties": {
        "path": {"type": "string", "description": "Relative to the skill's folder, such as data.csv"},
        "text": {"type": "string"},
        "base64": {"type": "string", "description": "Instead of text, for other bytes"},
    }});
    let schema = json!({"type": "object", "required": ["skill", "script"], "properties": {
        "skill": {"type": "string", "enum": ids},
        "script": {"type": "string", "description": format!("Its path in the skill's folder. There are: {}", named.join("; "))},
        "args": {"type": "array", "items": {"type": "string"}, "description": "The script's arguments, one by one"},
        "stdin": {"type": "string", "description": "What it reads as standard input"},
        "files": {"type": "array", "items": file, "description": "Files to lay into the skill's folder for this call"},
    }});
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// A script that came to its end: its code, streams and files. A code that is not 0 is an error that a model can act on.
pub fn answer_script(report: &Report, code: u8, client: &Client, held: &HeldResults) -> CallToolResult {
    let mut written = Written { client, held, blocks: Vec::new(), room: SMALL_FILES_BYTES, kept: 0 };
    let stdout = written.add_stream("stdout", &report.stdout);
    if code != 0 {
        written.blocks.push(ContentBlock::text(format!("The script ended with exit code {code}.")));
    }
    let stderr = written.add_stream("stderr", &report.stderr);
    let files: Vec<Value> = report.files.iter().take(MAX_NAMED_FILES).map(|file| written.add_file(file)).collect();
    let mut structured = json!({"exit_code": code, "stdout": stdout, "stderr": stderr, "files": files});
    if report.files.len() > MAX_NAMED_FILES {
        let note = format!("It wrote {} files, of which the first {MAX_NAMED_FILES} are named.", report.files.len());
        written.blocks.push(ContentBlock::text(note));
        structured["files_written"] = json!(report.files.len());
    }
    if written.blocks.is_empty() {
        written.blocks.push(ContentBlock::text("The script ended with exit code 0 and printed nothing."));
    }
    let mut answer =
        if code == 0 { CallToolResult::success(written.blocks) } else { CallToolResult::error(written.blocks) };
    answer.structured_content = Some(structured);
    answer
}

/// What a script left, on its way into an answer.
struct Written<'a> {
    client: &'a Client,
    held: &'a HeldResults,
    blocks: Vec<ContentBlock>,
    /// Bytes of files that the answer itself may still have.
    room: usize,
    kept: usize,
}

impl Written<'_> {
    /// The stream, or its beginning and where the whole of it is.
    fn add_stream(&mut self, name: &str, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let shown = parts(&text).next().unwrap_or_default().to_owned();
        if shown.is_empty() {
            return shown;
        }
        // Standard output is what was asked for; the other stream is told apart.
        let label = if name == "stdout" { String::new() } else { format!("{name}:\n") };
        self.blocks.push(ContentBlock::text(format!("{label}{shown}")));
        if text.len() > PART_BYTES {
            self.blocks
                .push(ContentBlock::text(format!("{name} is {} bytes long: this was its beginning.", text.len())));
            self.keep(name, text.as_bytes());
        }
        shown
    }

    fn add_file(&mut self, file: &WrittenFile) -> Value {
        let mut view = json!({"path": file.path, "bytes": file.bytes.len()});
        match std::str::from_utf8(&file.bytes) {
            Ok(text) if text.len() <= SMALL_FILE_BYTES.min(self.room) => {
                self.room -= text.len();
                self.blocks.push(ContentBlock::text(format!("File {}:\n{text}", file.path)));
                view["text"] = json!(text);
            }
            _ => match self.keep(&file.path, &file.bytes) {
                Some(uri) => view["resource"] = json!(uri),
                None => {
                    let note = format!("File {} has {} bytes, and was not kept.", file.path, file.bytes.len());
                    self.blocks.push(ContentBlock::text(note));
                }
            },
        }
        view
    }

    /// Holds bytes for the client that asked, and links to them.
    fn keep(&mut self, name: &str, bytes: &[u8]) -> Option<String> {
        if self.kept >= MAX_KEPT_FILES || bytes.len() > MAX_KEPT_BYTES {
            return None;
        }
        let kind = mime_type(name, bytes);
        let uri = result_uri(&self.held.keep_bytes(self.client, bytes, kind)?);
        self.kept += 1;
        let link = Resource::new(&uri, name).with_size(bytes.len() as u64).with_mime_type(kind);
        self.blocks.push(ContentBlock::resource_link(link));
        Some(uri)
    }
}
