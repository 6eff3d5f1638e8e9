//! A skill's folder as its scripts see it: which file a call runs, and what the call lays beside it.

use std::sync::Arc;

use super::bundle::{Bundle, BundleError};
use super::{Origin, Skill};
use skillcell_vfs::{Content, Tree};

/// The most files that a call lays into a skill's folder, and the most bytes in them.
const MAX_LAID_FILES: usize = 1000;
const MAX_LAID_BYTES: usize = 256 << 20;

impl Skill {
    /// A skill of these files, which are in no folder.
    pub fn from_files(id: &str, files: Vec<(String, Arc<[u8]>)>) -> Result<Skill, BundleError> {
        Ok(Skill::new(id, Origin::Memory, Arc::new(Bundle::from_files(files)?)))
    }

    /// The same skill, to be called by running one of its files. `None` if it has no such file.
    pub fn for_script(&self, path: &str) -> Option<Skill> {
        let path = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/");
        let (found, _) = self.bundle.files.iter().find(|(file, _)| *file == path)?;
        Some(Skill { script: Some(found.as_str().into()), ..self.clone() })
    }

    /// The file that its calls run, if it is not `skill.py`.
    pub fn script(&self) -> Option<&str> {
        self.script.as_deref()
    }

    /// The same script with these files in its folder, for one call. What is there is replaced.
    pub fn with_files(&self, files: &[(String, Arc<[u8]>)]) -> Result<Skill, BundleError> {
        if files.is_empty() {
            return Ok(self.clone());
        }
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        if files.len() > MAX_LAID_FILES || bytes > MAX_LAID_BYTES {
            let what = format!("{MAX_LAID_FILES} files or {} MiB of a call's own", MAX_LAID_BYTES >> 20);
            return Err(BundleError::TooLarge { what });
        }
        let is_plain = |path: &str| path.split('/').all(|name| !matches!(name, "" | "." | ".."));
        if let Some((path, _)) = files.iter().find(|(path, _)| !is_plain(path)) {
            return Err(BundleError::Path { path: path.clone() });
        }
        let mut tree = Tree::new();
        for (path, bytes) in self.bundle.contents.iter().chain(files) {
            let laid = tree.insert(path, Content::Bytes(bytes.clone()));
            laid.map_err(|_| BundleError::Path { path: path.clone() })?;
        }
        Ok(Skill { laid_out: Some(Arc::new(tree)), laid_files: files.into(), ..self.clone() })
    }

    /// Whether it is in the Agent Skills format, without a `skill.py`: all that can be called of it are its scripts.
    pub fn is_agent_skill(&self) -> bool {
        let has = |name: &str| self.bundle.files.iter().any(|(path, _)| path == name);
        has("SKILL.md") && !has("skill.py")
    }

    /// The Python files that a person would start: those in `scripts/`, or in the folder itself where there is none. Tests,
    /// and what is only for being imported, are left out.
    pub fn scripts(&self) -> Vec<&str> {
        let is_script = |path: &&str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let is_test = name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py";
            path.ends_with(".py") && !is_test && !name.starts_with("__") && !path.contains("tests/")
        };
        let all: Vec<&str> = self.bundle.files.iter().map(|(path, _)| path.as_str()).filter(is_script).collect();
        let in_scripts: Vec<&str> = all.iter().copied().filter(|path| path.starts_with("scripts/")).collect();
        if in_scripts.is_empty() { all } else { in_scripts }
    }

    /// What tells its image, facts and environments from those of others: its content, and the file that is run.
    pub fn content_key(&self) -> String {
        match &self.script {
            None => self.digest().to_owned(),
            Some(script) => format!("{}:{script}", self.digest()),
        }
    }

    /// Its folder's name where that is plain, so that a script finds it as it is called.
    pub fn folder_name(&self) -> String {
        let name = self.id.rsplit('/').next().unwrap_or(&self.id);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.chars().all(plain) && !name.is_empty() && !name.starts_with('.') && name.len() <= 100 {
            name.to_owned()
        } else {
            super::to_identifier(name)
        }
    }
}
