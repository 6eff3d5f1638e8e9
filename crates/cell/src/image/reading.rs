//! What the guest reads of a skill's files, in cells in which nothing of the skill runs: its manifest, what it is sure to import, and
//! facts for the analysis.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::bake::{ending_error, path_source};
use super::{BakeError, Baker};
use crate::runtime_kind::run_source;
use skillcell_limits::Limits;
use skillcell_packages::skill::Skill;
use skillcell_packages::{self as packages, SitePackages};
use skillcell_policy::manifest::StaticManifest;
use skillcell_quote::ascii_json;
use skillcell_vfs::Mount;

/// The most files that an analysis skips because the guest crashes on them.
const MAX_SKIPPED_FILES: usize = 4;
/// The deadline of trial imports: generous, so that a verdict does not depend on the machine's load.
const TRY_IMPORTS_TIMEOUT: Duration = Duration::from_secs(180);

/// What the guest read of a skill's files.
#[derive(serde::Deserialize)]
pub(super) struct InspectedFiles {
    pub(super) manifest: Value,
    pub(super) manifest_error: Option<String>,
    pub(super) early_imports: BTreeMap<String, String>,
    #[serde(default)]
    imports: Vec<String>,
}

impl InspectedFiles {
    pub(super) fn static_manifest(&self) -> StaticManifest {
        let (manifest, error) = (self.manifest.clone(), self.manifest_error.clone());
        let read = StaticManifest::new(manifest, error, self.early_imports.clone());
        StaticManifest { imports: self.imports.clone(), ..read }
    }
}

impl Baker<'_> {
    /// Has the guest read a skill's files without running them.
    pub(super) fn inspect_files(&self, skill: &Skill) -> Result<InspectedFiles, BakeError> {
        let framework = self.framework_image()?;
        let mut cell = self.cell_from(&framework, skill.mounts(), &Limits::default())?;
        let source = match skill.script() {
            None if skill.is_agent_skill() => {
                format!("bake.look_script(*{}, None)", ascii_json(&json!([skill.guest_folder()]).to_string()))
            }
            None => format!("bake.look(*{})", ascii_json(&json!([skill.guest_folder()]).to_string())),
            Some(script) => {
                format!("bake.look_script(*{})", ascii_json(&json!([skill.guest_folder(), script]).to_string()))
            }
        };
        let ran = run_source(&mut cell, &source);
        let look = cell.store().data_mut().door.report.take();
        let look = look.and_then(|look| serde_json::from_value(look).ok()).map(with_guessed_packages);
        look.ok_or_else(|| ending_error(&mut cell, ran.map(|_| ())))
    }

    /// What a skill's files say that matters for what it may do.
    pub fn static_manifest(&self, skill: &Skill) -> Result<StaticManifest, BakeError> {
        Ok(self.inspect_files(skill)?.static_manifest())
    }

    /// Has the guest say what is in a skill's files, for the analysis. The guest prints the name of each
    /// file before it parses it, so that a file that crashes it is known, and skipped in the next attempt.
    pub fn analysis_facts(&self, skill: &Skill) -> Result<Value, BakeError> {
        let framework = self.framework_image()?;
        let mut skipped: Vec<String> = Vec::new();
        loop {
            let mount = Mount::tree(&skill.guest_folder(), skill.tree());
            let mut cell = self.cell_from(&framework, mount, &Limits::default())?;
            let words = json!([skill.guest_folder(), skill.package(), json!(skipped).to_string()]);
            let ran = run_source(&mut cell, &format!("bake.analyse(*{})", ascii_json(&words.to_string())));
            if let Some(facts) = cell.store().data_mut().door.report.take() {
                return Ok(facts);
            }
            let last = last_line(&cell.state().wasi.vfs.stdout.bytes);
            match last {
                Some(file) if skipped.len() < MAX_SKIPPED_FILES && !skipped.contains(&file) => skipped.push(file),
                _ => return Err(ending_error(&mut cell, ran.map(|_| ()))),
            }
        }
    }

    /// Has the guest import packages that a skill names, of which nothing is the skill's own, and say what became of it.
    /// `None` if the guest crashed.
    pub fn try_imports(&self, skill: &Skill, wanted: &Value) -> Result<Option<Value>, BakeError> {
        let baker = self.with_libraries_of(skill.site())?;
        let framework = baker.framework_image()?;
        self.runtime.progress.step(&format!("importing the packages of {}", skill.id()));
        let limits = Limits::within(TRY_IMPORTS_TIMEOUT);
        let mut cell = baker.cell_from(&framework, skill.site().and_then(SitePackages::mount), &limits)?;
        let words = ascii_json(&json!([wanted.to_string()]).to_string());
        let _ = run_source(&mut cell, &format!("{}bake.try_imports(*{words})", path_source(skill)));
        Ok(cell.store().data_mut().door.report.take())
    }
}

fn last_line(output: &[u8]) -> Option<String> {
    String::from_utf8_lossy(output).lines().last().map(str::to_owned)
}

/// Names packages for the modules that a script imports, where nothing else says what it requires.
fn with_guessed_packages(mut look: InspectedFiles) -> InspectedFiles {
    let Some(modules) = look.manifest.get("wanted_modules").and_then(Value::as_array) else { return look };
    let mut guessed: Vec<&str> = modules.iter().filter_map(Value::as_str).map(packages::package_of).collect();
    guessed.sort_unstable();
    guessed.dedup();
    let guessed = json!(guessed);
    if let Some(keys) = look.manifest.as_object_mut() {
        keys.insert("requirements".to_owned(), guessed);
    }
    look
}
