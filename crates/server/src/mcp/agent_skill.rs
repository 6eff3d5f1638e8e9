//! A folder in the Agent Skills format, as the Skills extension (SEP-2640) serves it: the frontmatter of its SKILL.md, and each
//! file as a resource with its digest. Its scripts are run here, by the tool `run_skill_script`.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::ResourceContents;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::yaml;
use skillcell_packages::skill::Skill;

/// Larger skills are not served as files: a client has to read and check every one. Their scripts run all the same.
const MAX_FILES: usize = 512;
const MAX_BYTES: u64 = 16 << 20;
const SCHEME: &str = "skill://";
const SKILL_FILE: &str = "SKILL.md";

/// A skill of scripts.
#[derive(Clone)]
pub struct AgentSkill {
    skill: Skill,
    frontmatter: Value,
    /// `skill://…` without the file's name; none if it is not served as files.
    root: Option<String>,
    /// What the extension lists of it.
    listed: Value,
}

impl PartialEq for AgentSkill {
    fn eq(&self, other: &AgentSkill) -> bool {
        self.skill.id() == other.skill.id() && self.skill.digest() == other.skill.digest()
    }
}

impl std::fmt::Debug for AgentSkill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentSkill").field("id", &self.skill.id()).finish_non_exhaustive()
    }
}

impl AgentSkill {
    /// None if it is a skill of another kind.
    pub fn new(skill: &Skill) -> Option<AgentSkill> {
        skill.is_agent_skill().then(|| {
            let frontmatter = file(skill, SKILL_FILE).and_then(read_frontmatter).unwrap_or(Value::Null);
            let root = root_of(skill, &frontmatter);
            let listed = root.as_deref().map(|root| list_skill(skill, &frontmatter, root)).unwrap_or_default();
            AgentSkill { skill: skill.clone(), frontmatter, root, listed }
        })
    }

    /// What SKILL.md says under this key.
    pub fn says(&self, key: &str) -> Option<&str> {
        self.frontmatter.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }

    /// What a person would start.
    pub fn scripts(&self) -> Vec<&str> {
        self.skill.scripts()
    }

    /// Where its SKILL.md is read; none if it is not served as files.
    pub fn uri(&self) -> Option<String> {
        self.root.as_deref().map(|root| file_uri(root, SKILL_FILE))
    }

    /// Its entry in `skills/list`.
    pub fn listed(&self) -> Option<&Value> {
        self.root.as_ref().map(|_| &self.listed)
    }

    /// The file of it that a URI names.
    pub fn read(&self, uri: &str) -> Option<ResourceContents> {
        let root = self.root.as_deref()?;
        let (path, bytes) = self.skill.contents().find(|(path, _)| file_uri(root, path) == uri)?;
        Some(contents_of(uri, path, bytes))
    }
}

/// A file's bytes: text where they are text, so that they are the same bytes when they are read.
pub fn contents_of(uri: &str, path: &str, bytes: &[u8]) -> ResourceContents {
    let contents = match std::str::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(_) => ResourceContents::blob(STANDARD.encode(bytes), uri),
    };
    contents.with_mime_type(mime_type(path, bytes))
}

/// By the name's end, for what scripts write and models read.
pub fn mime_type(path: &str, bytes: &[u8]) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
        Some("md") => "text/markdown",
        Some("json") => "application/json",
        Some("csv") => "text/csv",
        Some("html" | "htm") => "text/html",
        Some("py") => "text/x-python",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("svg") => "image/svg+xml",
        Some("pdf") => "application/pdf",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

/// What stands between the `---` at the top of a SKILL.md. Read to be shown: nothing is decided by it.
fn read_frontmatter(text: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(text).ok()?.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (yaml, _) = text.strip_prefix("---\n")?.split_once("\n---")?;
    yaml::read_for_showing(yaml.as_bytes())
}

/// The extension wants a name of its own rules at the end of the path, a description, and every file.
fn root_of(skill: &Skill, frontmatter: &Value) -> Option<String> {
    let text = |key: &str| frontmatter.get(key).and_then(Value::as_str);
    let (name, _description) = (text("name")?, text("description")?);
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return None;
    }
    let (files, bytes) =
        skill.contents().fold((0, 0), |(files, sum), (_, bytes)| (files + 1, sum + bytes.len() as u64));
    if files > MAX_FILES || bytes > MAX_BYTES {
        return None;
    }
    let id = skill.id();
    let is_last = id.rsplit('/').next() == Some(name);
    Some(format!("{SCHEME}{}", encode_path(&if is_last { id.to_owned() } else { format!("{id}/{name}") })))
}

fn list_skill(skill: &Skill, frontmatter: &Value, root: &str) -> Value {
    let resources: Vec<Value> = skill
        .contents()
        .map(|(path, bytes)| {
            let digest: String = Sha256::digest(bytes).iter().fold(String::from("sha256:"), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
            json!({"uri": file_uri(root, path), "digest": digest, "size": bytes.len()})
        })
        .collect();
    json!({"uri": file_uri(root, SKILL_FILE), "frontmatter": frontmatter, "resources": resources})
}

fn file_uri(root: &str, path: &str) -> String {
    format!("{root}/{}", encode_path(path))
}

/// What may stand in a URI's path, and the rest percent-encoded.
fn encode_path(path: &str) -> String {
    path.bytes().fold(String::new(), |mut uri, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            _ => drop(write!(uri, "%{byte:02X}")),
        }
        uri
    })
}

fn file<'a>(skill: &'a Skill, name: &str) -> Option<&'a [u8]> {
    skill.contents().find(|(path, _)| *path == name).map(|(_, bytes)| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent_skill(id: &str, frontmatter: &str, other: (&str, &[u8])) -> AgentSkill {
        let text = format!("---\n{frontmatter}\n---\n# It\n");
        let files =
            vec![(SKILL_FILE.to_owned(), text.into_bytes().into()), (other.0.to_owned(), other.1.to_vec().into())];
        AgentSkill::new(&Skill::from_files(id, files).unwrap()).unwrap()
    }

    #[test]
    fn each_file_is_listed_with_its_digest_and_read_by_its_uri() {
        let skill = agent_skill("office/my-pdf", "name: my-pdf\ndescription: d\nx-other: [1]", ("a b/é.bin", b"\xff"));
        let listed = skill.listed().unwrap();
        assert_eq!(listed["uri"], "skill://office/my-pdf/SKILL.md");
        assert_eq!(listed["frontmatter"], json!({"name": "my-pdf", "description": "d", "x-other": [1]}));
        let uri = "skill://office/my-pdf/a%20b/%C3%A9.bin";
        let file = listed["resources"].as_array().unwrap().iter().find(|file| file["uri"] == uri).unwrap();
        let digest = "sha256:a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89";
        assert_eq!((&file["digest"], &file["size"]), (&json!(digest), &json!(1)));
        assert!(
            matches!(skill.read(uri).unwrap(), ResourceContents::BlobResourceContents { blob, .. } if blob == "/w==")
        );
        assert!(skill.read("skill://office/my-pdf/../x").is_none() && skill.read("skill://other/SKILL.md").is_none());
    }

    #[test]
    fn the_path_ends_with_the_name_and_a_skill_that_breaks_the_rules_is_not_listed() {
        let other = agent_skill("folder", "name: other\ndescription: d", ("x", b""));
        assert_eq!(other.uri().as_deref(), Some("skill://folder/other/SKILL.md"));
        for broken in
            ["name: Not Plain\ndescription: d", "name: x", "description: d", "name: [x]\ndescription: d", ": ["]
        {
            assert_eq!(agent_skill("x", broken, ("x", b"")).uri(), None, "{broken}");
        }
        let large = vec![0; MAX_BYTES as usize + 1];
        assert_eq!(agent_skill("x", "name: x\ndescription: d", ("large", &large)).uri(), None);
    }
}
