//! What a client is told of a call: the result as text and as structured content, or what a model can act on.
//!
//! A refusal says what was refused and that the operator can grant it; flags, rules and commands stay with the operator. Nothing
//! here is a protocol error: a call that was made, or could not be made, is a result, and the model reads it.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource};
use serde_json::{Map, Value, json};

use super::held::{HeldResults, PART_BYTES, count_parts, parts};
use super::resources::result_uri;
use super::run_script::answer_script;
use super::schema::plain_text;
use crate::{CallError, Client};
use skillcell_host::call::{Outcome, Raised, Report};
use skillcell_policy::{Denial, DenialKind};

/// What is shown of an exception's message; the skill decides about its length.
const MAX_MESSAGE_CHARS: usize = 4000;
/// Denials that are told one by one.
const MAX_DENIALS: usize = 20;

/// Who is answered, and in which words.
pub struct Asker<'a> {
    pub client: &'a Client,
    /// Whether it speaks a revision in which structured content has to be an object.
    pub is_legacy: bool,
    /// Whether the tool has an output schema: then there has to be an object, too.
    pub has_schema: bool,
}

/// A call that was made.
pub fn answer_report(report: &Report, asker: &Asker<'_>, held: &HeldResults) -> CallToolResult {
    let answer = match &report.outcome {
        Outcome::Returned(_) | Outcome::Raised(_) if report.exit_code.is_some() => {
            let mut answer = answer_script(report, report.exit_code.unwrap_or(1), asker.client, held);
            add_denials(&mut answer, report);
            answer
        }
        Outcome::Returned(json) => answer_result(json.get(), report, asker, held),
        Outcome::Raised(raised) => fail(raised_text(raised)),
        Outcome::Refused => fail(refused_text(&report.denials)),
        Outcome::Exceeded(limit, raised) => {
            let seen = raised.as_ref().map(|raised| format!("\n{}", raised_text(raised))).unwrap_or_default();
            fail(format!(
                "the call went over a limit and was ended: {limit}. Ask for less in one call; only the operator of this \
                 server can set another limit.{seen}"
            ))
        }
        Outcome::Busy => fail("the server is busy, and nothing was run: try again later".to_owned()),
        Outcome::Cancelled => fail("the call was cancelled".to_owned()),
        other => fail(format!("the call ended as {}", other.name())),
    };
    answer.with_meta(Some(meta_of(report)))
}

/// A call of which there is no report. A host's words may name folders of this machine: they are for who may see those.
pub fn answer_error(error: &CallError, client: &Client) -> CallToolResult {
    let words = plain_text(&error.to_string(), MAX_MESSAGE_CHARS);
    match error {
        CallError::Host(_) if client.is_operator() => fail(format!("the call could not be made: {words}")),
        CallError::Host(_) => fail("the call could not be made: this is for the operator of the server".to_owned()),
        _ => fail(words),
    }
}

/// A tool that can't be called now.
pub fn fail(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn answer_result(json: &str, report: &Report, asker: &Asker<'_>, held: &HeldResults) -> CallToolResult {
    // What nests too deeply to be read is passed on as text alone.
    let value: Option<Value> = serde_json::from_str(json).ok();
    let text = match &value {
        Some(Value::String(text)) => text.as_str(),
        _ => json,
    };
    let mut answer = if text.len() > PART_BYTES {
        answer_in_part(text, asker, held)
    } else {
        let mut answer = CallToolResult::success(vec![ContentBlock::text(text)]);
        answer.structured_content = value.map(|value| structure(value, asker));
        answer
    };
    add_denials(&mut answer, report);
    answer
}

fn add_denials(answer: &mut CallToolResult, report: &Report) {
    if !report.denials.is_empty() {
        let note = format!("While it ran, {}", refused_list(&report.denials));
        answer.content.push(ContentBlock::text(note));
    }
}

/// The beginning of a long result, and where the whole of it is.
fn answer_in_part(text: &str, asker: &Asker<'_>, held: &HeldResults) -> CallToolResult {
    let Some(handle) = held.keep(asker.client, text) else {
        return fail(format!("the result is {} bytes, more than can be passed on", text.len()));
    };
    let (uri, count) = (result_uri(&handle), count_parts(text));
    let first = parts(text).next().unwrap_or_default();
    let note = format!(
        "The result is {} bytes long: the text above is the first of {count} parts. The whole of it is the resource {uri}, and \
         part N is {uri}/N, for the next 15 minutes. Better: ask for less.",
        text.len()
    );
    let link = Resource::new(&uri, "result").with_title("The whole result").with_size(text.len() as u64);
    let link = link.with_mime_type("application/json");
    let mut answer = CallToolResult::success(vec![
        ContentBlock::text(first),
        ContentBlock::text(note),
        ContentBlock::resource_link(link),
    ]);
    answer.structured_content = Some(json!({"truncated": true, "resource": uri, "parts": count}));
    answer
}

/// An object where one has to be.
fn structure(value: Value, asker: &Asker<'_>) -> Value {
    if value.is_object() || !(asker.is_legacy || asker.has_schema) { value } else { json!({"result": value}) }
}

fn raised_text(raised: &Raised) -> String {
    format!("{}: {}", plain_text(&raised.kind, 200), plain_text(&raised.message, MAX_MESSAGE_CHARS))
}

fn refused_text(denials: &[Denial]) -> String {
    if denials.is_empty() {
        return "the call was refused: only the operator of this server can allow it".to_owned();
    }
    format!("The call was not made: {}", refused_list(denials))
}

fn refused_list(denials: &[Denial]) -> String {
    let told = denials.iter().take(MAX_DENIALS).map(|denial| format!("\n- {}", message_of(denial)));
    format!(
        "this was refused:{}\nOnly the operator of this server can grant it: ask for it, or do without.",
        told.collect::<String>()
    )
}

/// Without what a denial says of this machine's folders.
fn message_of(denial: &Denial) -> String {
    match denial.kind {
        DenialKind::Tier => "it can't run here as it is: this server does not let it use what it needs".to_owned(),
        _ => plain_text(&denial.message, MAX_MESSAGE_CHARS),
    }
}

/// What programs are told: how it ended, what was refused, what to know of the result, what it used.
fn meta_of(report: &Report) -> MetaObject {
    let mut meta = Map::new();
    let mut tell = |key: &str, value: Value| drop(meta.insert(format!("skillcell/{key}"), value));
    tell("outcome", json!(report.outcome.name()));
    tell("tier", json!(report.tier));
    if let Some(limit) = report.outcome.limit() {
        tell("limit", json!(limit));
    }
    let denials: Vec<Value> = report.denials.iter().take(MAX_DENIALS).map(denial_view).collect();
    if !denials.is_empty() {
        tell("denials", json!(denials));
    }
    if !report.notes.is_empty() {
        tell("notes", json!(report.notes));
    }
    tell("usage", usage_view(report));
    MetaObject(meta)
}

fn denial_view(denial: &Denial) -> Value {
    let asked = (denial.kind != DenialKind::Tier).then_some(&denial.asked);
    json!({"kind": denial.kind, "asked": asked, "message": message_of(denial)})
}

fn usage_view(report: &Report) -> Value {
    let ms = |time: std::time::Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    json!({
        "wall_ms": ms(report.usage.wall),
        "guest_ms": ms(report.usage.guest),
        "memory_peak_bytes": report.usage.memory_peak_bytes,
    })
}
