//! Programs that belong to no skill: code that somebody wrote just now, to be run in a cell.
//!
//! A program is run as a script over a skill of our own, which has nothing but its imports. So its image has what it imports in
//! memory, and serves every program that imports the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Host, HostError, on_enough_stack};
use skillcell_packages::skill::{Skill, SkillError};

/// What a program is called that has no name.
pub(super) const NAME: &str = "program.py";
/// The longest program.
const MAX_BYTES: usize = 8 << 20;

impl Host {
    /// The skill to run a program with: [`Call::code`](crate::call::Call::code), or a script of this name whose text is laid into
    /// the folder. Its text is read, and not run. `files` are those that the call will lay beside it: a module among them is
    /// no package to be looked for.
    pub fn program(&self, name: Option<&str>, text: &[u8], files: &[(String, Arc<[u8]>)]) -> Result<Skill, HostError> {
        let name = name.unwrap_or(NAME);
        if text.len() > MAX_BYTES {
            return Err(HostError::ProgramTooLarge { got: text.len(), cap: MAX_BYTES });
        }
        let is_module = |path: &str| path.ends_with(".py") && path != name;
        let modules = files.iter().filter(|(path, _)| is_module(path)).cloned();
        let whole = skill_of([(name.to_owned(), text.into())].into_iter().chain(modules).collect())?;
        let script = whole
            .for_script(name)
            .ok_or_else(|| HostError::NoScript { skill: whole.id().to_owned(), path: name.to_owned() })?;
        let read = on_enough_stack(|| self.static_manifest(&script))?;
        let imports: BTreeSet<String> = read.imports.into_iter().filter(|module| is_module_name(module)).collect();
        let mut stub: String = imports.iter().map(|module| format!("import {module}\n")).collect();
        stub += &metadata_block(&String::from_utf8_lossy(text));
        skill_of(vec![(name.to_owned(), stub.into_bytes().into())])
    }
}

fn skill_of(files: Vec<(String, Arc<[u8]>)>) -> Result<Skill, HostError> {
    Ok(Skill::from_files("program", files).map_err(SkillError::from)?)
}

fn is_module_name(name: &str) -> bool {
    let plain = |part: &str| {
        part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !part.starts_with(|c: char| c.is_ascii_digit())
    };
    !name.is_empty() && name.split('.').all(|part| !part.is_empty() && plain(part))
}

/// The PEP 723 block of a program, which says what packages it wants.
fn metadata_block(text: &str) -> String {
    let lines = text.lines().skip_while(|line| line.trim_end() != "# /// script");
    let mut block = String::new();
    for line in lines.take_while(|line| line.starts_with('#')) {
        block += line;
        block += "\n";
        if line.trim_end() == "# ///" {
            return block;
        }
    }
    String::new()
}
