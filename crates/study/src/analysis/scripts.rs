//! A folder with `SKILL.md` and scripts: a verdict for each script, and one for the skill.
//!
//! A script is analysed as a skill of ours whose call starts it: its folder as it is, with a `skill.py` that imports the script and
//! runs what it has under `if __name__ == "__main__":`. Line numbers stay what they are. Nothing of it is run.

use std::sync::{Arc, LazyLock};

use regex::bytes::Regex;
use serde::Serialize;
use serde_json::{Value, json};

use super::facts::Facts;
use super::{Analysis, Verdict, analyse_facts, understood};
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::{Skill, SkillError};

static MAIN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?m)^if\s+__name__\s*==\s*['"]__main__['"]\s*:"#).expect("the pattern is right"));

/// What there is to say of one script.
#[derive(Debug, Clone, Serialize)]
pub struct ScriptAnalysis {
    /// Its path in the skill's folder.
    pub script: String,
    /// The packages that it wants, and where that is written: `imports` is a guess.
    pub requirements: Vec<String>,
    pub requirements_from: Option<String>,
    #[serde(flatten)]
    pub analysis: Analysis,
}

/// Analyses each script of a skill.
pub fn analyse_scripts(host: &Host, skill: &Skill) -> Result<Vec<ScriptAnalysis>, HostError> {
    skill.scripts().into_iter().map(|script| analyse_script(host, skill, script)).collect()
}

/// Analyses one script of a skill.
pub fn analyse_script(host: &Host, skill: &Skill, script: &str) -> Result<ScriptAnalysis, HostError> {
    let missing = || HostError::NoScript { skill: skill.id().to_owned(), path: script.to_owned() };
    let manifest = host.manifest(&skill.for_script(script).ok_or_else(missing)?)?;
    let from = manifest.raw().get("requirements_from").and_then(Value::as_str).map(str::to_owned);
    let started = started_by_skill(skill, script, &manifest.requirements)?;
    let facts = Facts { is_script: true, ..understood(host.facts(&started)?) };
    let mut analysis = analyse_facts(host, &started, facts)?;
    // Its folder is the root there; here it is named from the skill's.
    let above = script.rsplit_once('/').map_or("", |(above, _)| above);
    if !above.is_empty() {
        analysis.reasons.iter_mut().for_each(|reason| reason.file = format!("{above}/{}", reason.file));
    }
    Ok(ScriptAnalysis {
        script: script.to_owned(),
        requirements: manifest.requirements,
        requirements_from: from,
        analysis,
    })
}

/// The verdict of a skill by those of its scripts: what all of them are, or `partly` where they differ in whether they run.
pub fn overall_verdict(scripts: &[ScriptAnalysis]) -> Option<Verdict> {
    let all = |is: &dyn Fn(Verdict) -> bool| scripts.iter().all(|one| is(one.analysis.verdict));
    match () {
        () if scripts.is_empty() => None,
        () if all(&|verdict| verdict == Verdict::Runs) => Some(Verdict::Runs),
        () if all(&|verdict| matches!(verdict, Verdict::Runs | Verdict::RunsWithGrants)) => {
            Some(Verdict::RunsWithGrants)
        }
        () if all(&|verdict| verdict == Verdict::NotInWasm) => Some(Verdict::NotInWasm),
        () => Some(Verdict::Partly),
    }
}

/// The skill whose call starts a script.
fn started_by_skill(skill: &Skill, script: &str, requirements: &[String]) -> Result<Skill, HostError> {
    let (above, name) = script.rsplit_once('/').map_or(("", script), |(above, name)| (above, name));
    let module = module_name(name);
    let mut files: Vec<(String, Arc<[u8]>)> = Vec::new();
    let mut has_main = false;
    for (path, bytes) in skill.contents() {
        // Beside the script first, then what is at the skill's root: as they are found when it runs.
        let inner = match path.strip_prefix(above).map(|rest| rest.trim_start_matches('/')) {
            Some(inner) if path != script => inner,
            Some(_) => {
                has_main = MAIN.is_match(bytes);
                let changed = MAIN.replace(bytes, &b"def run_as_main():"[..]).into_owned();
                files.push((format!("{module}.py"), changed.into()));
                continue;
            }
            None if path.ends_with(".py") => path,
            None => continue,
        };
        if !matches!(inner, "skill.py" | "manifest.yaml") && files.iter().all(|(other, _)| other != inner) {
            files.push((inner.to_owned(), bytes.into()));
        }
    }
    let start = if has_main { "script.run_as_main()" } else { "pass" };
    files.push(("skill.py".to_owned(), skill_text(&module, start).into_bytes().into()));
    let manifest = json!({"name": "script", "version": "1", "description": "a script", "requirements": requirements});
    files.push(("manifest.yaml".to_owned(), manifest.to_string().into_bytes().into()));
    Ok(Skill::from_files(skill.id(), files).map_err(SkillError::from)?)
}

fn skill_text(module: &str, start: &str) -> String {
    format!(
        "import os\nimport sys\n\nfrom skillware.core.base_skill import BaseSkill\n\n\
         sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\n\n\n\
         class Started(BaseSkill):\n    @property\n    def manifest(self):\n        return {{\"name\": \"script\"}}\n\n    \
         def execute(self, params):\n        import {module} as script\n\n        {start}\n        return {{}}\n"
    )
}

/// A name that can be imported.
fn module_name(file: &str) -> String {
    let stem = file.strip_suffix(".py").unwrap_or(file);
    let plain: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain == "skill" || plain.starts_with(|c: char| c.is_ascii_digit()) { format!("_{plain}") } else { plain }
}
