//! `skillcell inspect` of a folder in the Agent Skills format: a row for each script, a verdict for the skill.

use std::collections::BTreeSet;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::permissions::ApprovalStates;
use super::{print_row, value_text};
use crate::cli::printer::{Printer, escape_unprintable};
use crate::settings::Settings;
use skillcell_host::Host;
use skillcell_packages::skill::{Origin, Skill};
use skillcell_study::analysis::{ScriptAnalysis, analyse_scripts, overall_verdict};

/// Prints what is known of a skill's scripts, or all of it as JSON.
pub fn inspect_scripts(
    host: Host,
    settings: &Settings,
    skill: &Skill,
    json: bool,
    printer: &Printer,
) -> anyhow::Result<ExitCode> {
    let scripts = analyse_scripts(&host, skill)?;
    let manifest = host.manifest(skill)?;
    let front = manifest.raw().get("frontmatter").cloned().unwrap_or_default();
    let verdict = overall_verdict(&scripts);
    let standings = match skill.scripts().first() {
        Some(script) => {
            let call = settings.unrecorded_call(skill.id()).with_script(*script, []);
            Some(ApprovalStates::collect_for(&host, settings, skill, &Ok(manifest), &call)?)
        }
        None => None,
    };
    drop(host); // clears the progress line
    if json {
        printer.print_json(&json!({
            "schema": 1,
            "skill": skill.id(),
            "origin": match skill.origin() {
                Origin::Folder(path) => json!({"folder": path}),
                _ => Value::Null,
            },
            "digest": skill.digest(),
            "files": skill.files().len(),
            "frontmatter": front,
            "verdict": verdict,
            "scripts": scripts,
            "permissions": standings.as_ref().map(ApprovalStates::to_value),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    print_row(printer, "skill", skill.id());
    let description = value_text(&front["description"]);
    if front["description"].is_string() {
        print_row(printer, "", &description.lines().next().unwrap_or_default().chars().take(160).collect::<String>());
    }
    print_row(printer, "verdict", verdict.map_or("it has no Python scripts", |verdict| verdict.name()));
    // The skill's own word, which nothing is decided by.
    for key in ["allowed-tools", "compatibility", "license"] {
        if !front[key].is_null() {
            print_row(printer, key, &format!("{} (as it says; nothing is granted by it)", value_text(&front[key])));
        }
    }
    let programs: BTreeSet<&str> =
        scripts.iter().flat_map(|script| &script.analysis.programs).map(String::as_str).collect();
    if !programs.is_empty() {
        let programs: Vec<&str> = programs.into_iter().collect();
        print_row(
            printer,
            "programs",
            &format!("{}: its scripts start these, and a cell has none", programs.join(", ")),
        );
    }
    printer.print_line("");
    let rows: Vec<Vec<String>> = scripts.iter().map(table_row).collect();
    if !rows.is_empty() {
        printer.print_table(&["script", "verdict", "packages", "because"], &rows);
        printer.print_line("");
    }
    if let Some(standings) = standings {
        standings.print_all(printer);
    }
    Ok(ExitCode::SUCCESS)
}

fn table_row(script: &ScriptAnalysis) -> Vec<String> {
    let (verdict, reason) = script.analysis.in_brief();
    let mut packages = if script.requirements.is_empty() { "-".to_owned() } else { script.requirements.join(" ") };
    if script.requirements_from.as_deref() == Some("imports") && !script.requirements.is_empty() {
        packages += " (guessed)";
    }
    let asked = script.analysis.permissions.value.as_object();
    let asks = || asked.map(|keys| format!("would ask for {}", keys.keys().cloned().collect::<Vec<_>>().join(", ")));
    vec![script.script.clone(), verdict, escape_unprintable(&packages), reason.or_else(asks).unwrap_or_default()]
}
