//! `skillcell inspect`: what a skill is and what it would need, without running it.

mod analysis;
mod permissions;
mod scripts;

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use self::analysis::Sections;
use self::permissions::ApprovalStates;
use super::SettingArgs;
use super::grants::GrantArgs;
use super::origin::find_skill;
use super::printer::{Printer, escape_unprintable, format_bytes};
use crate::settings::Settings;
use skillcell_host::plan::PlanView;
use skillcell_packages::skill::Origin;
use skillcell_policy::manifest::Manifest;
use skillcell_study::analysis::analyse;

/// Show whether a skill runs in a cell, why not, and what it would have to ask for, without running it
///
/// The manifest and the Python files are read inside a cell; nothing of the skill is executed. Packages that it imports are
/// imported in another cell, without the skill. The verdict is one of
/// `runs`, `runs with grants`, `partly` (some of it needs what a cell does not have) and `not in wasm` (all of it does),
/// each with the file and line of every reason. With the grants of a `run` as flags, it shows what of them would hold.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell inspect optimization/prompt_rewriter
  skillcell inspect ./my_skill --all
  skillcell inspect ./my_skill --policy skillcell.toml
  skillcell inspect ./my_skill --allow-http 'GET https://api.example.org/v1/*'")]
pub struct InspectCommand {
    /// A folder with a skill.py, or with a SKILL.md and scripts, or an id
    skill: String,
    /// Show long lists in full
    #[arg(long)]
    all: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    grants: GrantArgs,
}

impl InspectCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let mut overrides = args.overrides();
        self.grants.add_to(&mut overrides)?;
        let settings = Settings::load(overrides)?;
        settings.check_grants()?;
        let host = args.build_host(&settings)?;
        let skill = find_skill(&host, &self.skill, args.quiet, printer)?;
        if skill.is_agent_skill() {
            return scripts::inspect_scripts(host, &settings, &skill, self.json, printer);
        }
        let analysis = analyse(&host, &skill)?;
        let image = host.baked(&skill)?;
        let manifest = Manifest::read(analysis.manifest.clone());
        let standings =
            ApprovalStates::collect_for(&host, &settings, &skill, &manifest, &settings.unrecorded_call(skill.id()))?;
        drop(host);
        let (size, count) = (skill.files().iter().map(|(_, size)| size).sum::<u64>(), skill.files().len());
        // `unread` also lists files that could not be read for other reasons.
        let is_syntax =
            |why: &str| why.contains("SyntaxError") || why.contains("IndentationError") || why.contains("TabError");
        let syntax = analysis.unread.iter().filter(|one| is_syntax(&one.why));
        let about = json!({
            "schema": 1,
            "skill": skill.id(),
            "origin": match skill.origin() {
                Origin::Folder(path) => json!({"folder": path}),
                Origin::Registry => json!("registry"),
                Origin::Memory => json!("memory"),
            },
            "digest": skill.digest(),
            "files": count,
            "bytes": size,
            "manifest": analysis.manifest,
            "manifest_error": analysis.manifest_error,
            "imports": analysis::imports_json(&analysis),
            "refused_at_use": analysis::refused_at_use(&analysis.imports),
            "syntax_errors": syntax.map(|one| format!("{}:{}: {}", one.file, one.line, one.why)).collect::<Vec<_>>(),
            "permissions": standings.to_value(),
            "plan": PlanView::new(skill.id(), &standings.decision),
            "analysis": analysis,
            "image": image.as_ref().map(|(image, report)| json!({"key": image.key, "report": report})),
        });
        if self.json {
            printer.print_json(&about);
            return Ok(ExitCode::SUCCESS);
        }
        let sections = Sections { analysis: &analysis, printer, all: self.all };
        let manifest = manifest.unwrap_or_default();
        print_head(&about, &manifest, printer);
        sections.print_verdict();
        printer.print_line("");
        print_details(&about, &manifest, printer);
        sections.print_contents();
        printer.print_line("");
        sections.print_permissions();
        printer.print_line("");
        standings.print_all(printer);
        Ok(ExitCode::SUCCESS)
    }
}

fn print_row(printer: &Printer, name: &str, text: &str) {
    printer.print_row(name, &escape_unprintable(text));
}

/// The skill's id and the first line of its summary.
fn print_head(about: &Value, manifest: &Manifest, printer: &Printer) {
    print_row(printer, "skill", &value_text(&about["skill"]));
    if !about["manifest_error"].is_null() {
        printer.print_warning(&format!("the manifest can't be read: {}", value_text(&about["manifest_error"])));
    }
    if let Some(summary) = &manifest.summary {
        print_row(printer, "", &summary.lines().next().unwrap_or_default().chars().take(160).collect::<String>());
    }
}

fn print_details(about: &Value, manifest: &Manifest, printer: &Printer) {
    let row = |name: &str, text: String| print_row(printer, name, &text);
    row("origin", about["origin"]["folder"].as_str().map_or_else(|| "pinned registry".to_owned(), str::to_owned));
    row("files", format!("{} ({})", about["files"], format_bytes(about["bytes"].as_u64().unwrap_or(0))));
    row("digest", value_text(&about["digest"]).chars().take(16).collect());
    if let Some(version) = &manifest.version {
        row("version", version.clone());
    }
    let parameters = manifest.parameters.clone().unwrap_or_default();
    row("params", join_or_none(&parameter_names(&parameters)));
    row("requirements", join_or_none(&manifest.requirements));
    row("env_vars", join_or_none(&manifest.env_vars));
    row(
        "image",
        match about["image"]["key"].as_str() {
            Some(key) => {
                let report = &about["image"]["report"];
                format!("baked, {}, {key}", format_bytes(report["image_bytes"].as_u64().unwrap_or(0)))
            }
            None => "not baked yet; `skillcell build` or the first call does".to_owned(),
        },
    );
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn join_or_none(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// Parameter names from the JSON Schema; required ones are marked with `*`.
fn parameter_names(schema: &Value) -> Vec<String> {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let names = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
    names.map(|name| if is_required(name) { format!("{name}*") } else { name.clone() }).collect()
}
