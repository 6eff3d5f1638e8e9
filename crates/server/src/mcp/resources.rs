//! What can be read besides calling: instructions and cards of skills, and results that were too long to be answered with.

use rmcp::model::{
    GetPromptResult, Prompt, PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};

use super::agent_skill::AgentSkill;
use super::entry::Entry;
use super::held;
use super::run_script::RUN_SCRIPT;

const SKILLS: &str = "skillcell://skills/";
const RESULTS: &str = "skillcell://results/";
const INSTRUCTIONS: &str = "/instructions.md";
const CARD: &str = "/card.json";

/// What a URI of ours names.
#[derive(Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// By the tool's name.
    Instructions(&'a str),
    Card(&'a str),
    /// By handle, and which part of it, from 1.
    Result(&'a str, Option<usize>),
    /// A file of an Agent Skills folder, by the whole URI.
    SkillFile,
}

impl Place<'_> {
    /// None if it names nothing that could be here.
    pub fn parse(uri: &str) -> Option<Place<'_>> {
        if let Some(skill) = uri.strip_prefix(SKILLS) {
            let instructions = skill.strip_suffix(INSTRUCTIONS).map(Place::Instructions);
            return instructions.or_else(|| skill.strip_suffix(CARD).map(Place::Card));
        }
        if uri.starts_with("skill://") {
            return Some(Place::SkillFile);
        }
        let (handle, part) = match uri.strip_prefix(RESULTS)?.split_once('/') {
            Some((handle, part)) => (handle, Some(part.parse().ok()?)),
            None => (uri.strip_prefix(RESULTS)?, None),
        };
        Some(Place::Result(handle, part))
    }
}

/// Where a held result is.
pub fn result_uri(handle: &str) -> String {
    format!("{RESULTS}{handle}")
}

/// The resources that come with a skill.
pub fn resources_of(entry: &Entry) -> impl Iterator<Item = Resource> {
    let (name, title) = (entry.name(), entry.title());
    let skill_file = entry.agent_skill.as_ref().and_then(|skill| skill_file_of(entry, skill));
    let own_instructions = entry.instructions.as_ref().filter(|_| skill_file.is_none());
    let instructions = own_instructions.map(|text| {
        Resource::new(format!("{SKILLS}{name}{INSTRUCTIONS}"), format!("{name}_instructions"))
            .with_title(format!("{title}: instructions"))
            .with_description("When and how to use the skill, in its author's words")
            .with_mime_type("text/markdown")
            .with_size(text.len() as u64)
    });
    let card = entry.card.as_ref().map(|text| {
        Resource::new(format!("{SKILLS}{name}{CARD}"), format!("{name}_card"))
            .with_title(format!("{title}: card"))
            .with_description("How to show the skill and its results")
            .with_mime_type("application/json")
            .with_size(text.len() as u64)
    });
    skill_file.into_iter().chain(instructions).chain(card)
}

/// The SKILL.md of a folder that the Skills extension lists; the other files are read by the URIs that are listed there.
fn skill_file_of(entry: &Entry, skill: &AgentSkill) -> Option<Resource> {
    let resource =
        Resource::new(skill.uri()?, skill.says("name").unwrap_or(entry.name())).with_mime_type("text/markdown");
    Some(resource.with_title(entry.title()).with_description(entry.tool.description.as_deref().unwrap_or_default()))
}

/// How a long result is read part by part.
pub fn result_template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{RESULTS}{{handle}}/{{part}}"), "result_part")
        .with_title("A part of a long result")
        .with_description("Handles are in the answers of calls whose result was too long; parts count from 1")
        .with_mime_type("application/json")
}

/// The text of a resource.
pub fn read_text(uri: &str, mime_type: &str, text: &str) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(mime_type)])
}

/// A held result, or one part of it.
pub fn result_part(text: &str, part: Option<usize>) -> Option<&str> {
    match part {
        None => Some(text),
        Some(part) => held::parts(text).nth(part.checked_sub(1)?),
    }
}

/// The prompt that a skill's instructions are.
pub fn prompt_of(entry: &Entry) -> Option<Prompt> {
    entry.instructions.as_ref()?;
    let about = format!("The instructions of the skill {}", entry.id);
    Some(Prompt::new(entry.name(), Some(about), None).with_title(entry.title()))
}

/// The instructions as a message.
pub fn prompt_text(entry: &Entry) -> Option<GetPromptResult> {
    let of = match &entry.agent_skill {
        Some(_) => format!("of the skill `{}`, whose scripts the tool `{RUN_SCRIPT}` runs", entry.id),
        None => format!("for the tool `{}`", entry.name()),
    };
    let text = format!("Instructions {of}:\n\n{}", entry.instructions.as_ref()?);
    Some(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(entry.title()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_what_they_say_and_nothing_else() {
        let (one, other) =
            ("skillcell://skills/office_mail/instructions.md", "skillcell://skills/office_mail/card.json");
        assert_eq!(Place::parse(one), Some(Place::Instructions("office_mail")));
        assert_eq!(Place::parse(other), Some(Place::Card("office_mail")));
        assert_eq!(Place::parse("skillcell://results/ab"), Some(Place::Result("ab", None)));
        assert_eq!(Place::parse("skillcell://results/ab/2"), Some(Place::Result("ab", Some(2))));
        for other in ["file:///etc/passwd", "skillcell://skills/x/skill.py", "skillcell://results/ab/x", ""] {
            assert_eq!(Place::parse(other), None, "{other}");
        }
    }

    #[test]
    fn parts_count_from_one() {
        assert_eq!(result_part("ab", None), Some("ab"));
        assert_eq!(result_part("ab", Some(1)), Some("ab"));
        assert_eq!((result_part("ab", Some(0)), result_part("ab", Some(2))), (None, None));
    }
}
