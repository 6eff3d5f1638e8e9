//! What is shown of one skill: a tool in both eras' words, its instructions and its card.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;

use super::agent_skill::AgentSkill;
use super::schema::{input_schema, output_schema, plain_text};
use super::session_tools::{has_own_argument, show_argument};
use super::yaml;
use skillcell_host::plan::{Decision, Plan};
use skillcell_packages::skill::Skill;
use skillcell_policy::{Methods, Mode, Tier};

/// Longer descriptions are cut: providers of models refuse them.
const MAX_DESCRIPTION_CHARS: usize = 1000;
const MAX_TITLE_CHARS: usize = 80;
/// Longer files of a skill are no instructions to show.
const MAX_SHOWN_BYTES: usize = 256 << 10;

/// One skill as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The skill's id.
    pub id: String,
    /// What it is called and takes, for the era without sessions.
    pub tool: Tool,
    /// The same for clients of the older era.
    pub legacy_tool: Tool,
    /// Whether its own schema has the argument that sessions are named by.
    pub has_own_session: bool,
    /// A folder of scripts, which is no tool by itself.
    pub agent_skill: Option<Arc<AgentSkill>>,
    /// `instructions.md`, or `SKILL.md`.
    pub instructions: Option<Arc<str>>,
    /// `card.json`.
    pub card: Option<Arc<str>>,
    /// Of the files that it was read from.
    pub digest: Option<String>,
    /// Why it can't be called, while that is so: it is not found yet, say.
    pub problem: Option<String>,
}

impl Entry {
    /// Of a skill that was named and not found yet: there is a name, and no more.
    pub fn unread(id: &str) -> Entry {
        let described = Described { title: title_of(id), ..Described::default() };
        described.entry(id)
    }

    /// Of a skill that no guest has read yet.
    pub fn of_files(skill: &Skill) -> Entry {
        if let Some(agent_skill) = AgentSkill::new(skill) {
            return Entry::of_agent_skill(skill, agent_skill);
        }
        let raw = file(skill, "manifest.yaml").and_then(yaml::read_for_showing).unwrap_or(Value::Null);
        Entry::of_manifest(skill, &raw, None)
    }

    fn of_agent_skill(skill: &Skill, agent_skill: AgentSkill) -> Entry {
        let title = agent_skill.says("name").map_or_else(|| title_of(skill.id()), title_of);
        let description = agent_skill.says("description").map(str::to_owned);
        let (instructions, digest) = (text_file(skill, "SKILL.md"), Some(skill.digest().to_owned()));
        let described = Described { title, description, ..Described::default() };
        Entry { agent_skill: Some(Arc::new(agent_skill)), instructions, digest, ..described.entry(skill.id()) }
    }

    /// Of a skill whose manifest is known, with what was decided about a call of it.
    pub fn of_manifest(skill: &Skill, raw: &Value, decided: Option<&Decision>) -> Entry {
        let card = text_file(skill, "card.json");
        let title = raw.get("title").and_then(Value::as_str).map(str::to_owned);
        let titled = title.or_else(|| card.as_deref().and_then(card_name)).unwrap_or_else(|| title_of(skill.id()));
        let text = |key: &str| raw.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let described = Described {
            title: plain_text(titled.lines().next().unwrap_or_default().trim(), MAX_TITLE_CHARS),
            description: text("description").or(text("short_description")).map(str::to_owned),
            parameters: raw.get("parameters").cloned(),
            outputs: raw.get("outputs").cloned(),
            annotations: decided.map(annotations_of),
        };
        let digest = Some(skill.digest().to_owned());
        Entry { instructions: text_file(skill, "instructions.md"), card, digest, ..described.entry(skill.id()) }
    }

    /// The same under the name that it has among the others.
    pub fn with_name(mut self, name: &str) -> Entry {
        self.tool.name = name.to_owned().into();
        self.legacy_tool.name = name.to_owned().into();
        self
    }

    /// The tool as a client of this era is shown it.
    pub fn shown_tool(&self, is_legacy: bool, with_sessions: bool) -> Tool {
        let mut tool = if is_legacy { self.legacy_tool.clone() } else { self.tool.clone() };
        if with_sessions {
            show_argument(&mut tool);
        }
        tool
    }

    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.tool.name
    }

    /// In a few words, for lists of what comes with it.
    pub fn title(&self) -> &str {
        self.tool.title.as_deref().unwrap_or(&self.id)
    }
}

/// What a tool is made of.
#[derive(Default)]
struct Described {
    title: String,
    description: Option<String>,
    parameters: Option<Value>,
    outputs: Option<Value>,
    annotations: Option<ToolAnnotations>,
}

impl Described {
    fn entry(self, id: &str) -> Entry {
        let (tool, legacy_tool) = (self.tool(false), self.tool(true));
        let has_own_session = has_own_argument(self.parameters.as_ref());
        let (agent_skill, instructions, card, digest, problem) = (None, None, None, None, None);
        Entry {
            id: id.to_owned(),
            tool,
            legacy_tool,
            has_own_session,
            agent_skill,
            instructions,
            card,
            digest,
            problem,
        }
    }

    fn tool(&self, is_legacy: bool) -> Tool {
        let description = self.description.as_deref().unwrap_or(&self.title).trim();
        let description = plain_text(description, MAX_DESCRIPTION_CHARS);
        let input = Arc::new(input_schema(self.parameters.as_ref(), is_legacy));
        let mut tool = Tool::new("", description, input).with_title(self.title.clone());
        // Without a plan nothing is promised: the protocol's defaults are the worst case.
        tool.annotations = self.annotations.clone();
        match output_schema(self.outputs.as_ref()) {
            Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
            None => tool,
        }
    }
}

/// What a call may do, as hints. One that is refused does nothing.
fn annotations_of(decided: &Decision) -> ToolAnnotations {
    let (writes, reaches_out) = match decided {
        Decision::Planned(plan) => (may_change(plan), may_reach_out(plan)),
        Decision::Refused(_) => (false, false),
    };
    let hints = ToolAnnotations::new().read_only(!writes).destructive(writes).open_world(reaches_out);
    if writes { hints } else { hints.idempotent(true) }
}

/// Whether it could change something beyond its own cell.
fn may_change(plan: &Plan) -> bool {
    let grants = &plan.effective.grants;
    let reads_only = Methods::get_and_head();
    plan.tier == Tier::InProcess
        || grants.mounts.iter().any(|mount| mount.mode == Mode::ReadWrite)
        || grants.http.allow.iter().any(|rule| !reads_only.covers(rule.methods()))
}

fn may_reach_out(plan: &Plan) -> bool {
    plan.tier == Tier::InProcess || !plan.effective.grants.http.allow.is_empty()
}

/// `office/gmail_handler` is a Gmail handler.
fn title_of(id: &str) -> String {
    let words = id.rsplit('/').next().unwrap_or(id).replace(['_', '-'], " ");
    let mut letters = words.trim().chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    plain_text(&(first + letters.as_str()), MAX_TITLE_CHARS)
}

fn card_name(card: &str) -> Option<String> {
    let card: Value = serde_json::from_str(card).ok()?;
    card.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty()).map(str::to_owned)
}

fn file<'a>(skill: &'a Skill, name: &str) -> Option<&'a [u8]> {
    skill.contents().find(|(path, _)| *path == name).map(|(_, bytes)| bytes)
}

fn text_file(skill: &Skill, name: &str) -> Option<Arc<str>> {
    let bytes = file(skill, name).filter(|bytes| bytes.len() <= MAX_SHOWN_BYTES)?;
    let text = plain_text(std::str::from_utf8(bytes).ok()?, usize::MAX);
    (!text.trim().is_empty()).then(|| text.into())
}
