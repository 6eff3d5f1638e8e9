//! `skillcell inspect`: what a skill is, without running it.

mod permissions;

use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};

use self::permissions::Standings;
use super::Settings;
use super::grants::GrantArgs;
use super::printer::{Printer, bytes, harmless};
use crate::policy::REFUSED_AT_USE;
use crate::skill::Origin;

/// Show a skill's manifest, imports, permissions, size and image, without running it
///
/// The manifest and the Python files are read inside a cell; nothing of the skill is executed. With the grants of a
/// `run` as flags, it shows what of them would hold.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell inspect optimization/prompt_rewriter
  skillcell inspect ./my_skill --policy skillcell.toml --allow-http 'GET https://api.example.org/v1/*'")]
pub struct InspectCommand {
    /// A folder with a skill.py, or an id
    skill: String,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    grants: GrantArgs,
}

impl InspectCommand {
    pub fn execute(&self, settings: &Settings, printer: &Printer) -> anyhow::Result<ExitCode> {
        let host = settings.host()?;
        let skill = host.skill(&self.skill)?;
        let look = host.look(&skill)?;
        let image = host.baked(&skill)?;
        let layers = self.grants.layers(skill.id())?;
        let standings = Standings::of(&skill, &look["manifest"], host.approvals(), layers)?;
        drop(host);
        let (size, count) = (skill.files().iter().map(|(_, size)| size).sum::<u64>(), skill.files().len());
        let about = json!({
            "schema": 1,
            "skill": skill.id(),
            "origin": match skill.origin() {
                Origin::Folder(path) => json!({"folder": path}),
                Origin::Registry => json!("registry"),
            },
            "digest": skill.digest(),
            "files": count,
            "bytes": size,
            "manifest": look["manifest"],
            "manifest_error": look["manifest_error"],
            "imports": look["imports"],
            "refused_at_use": refused_at_use(&look["imports"]),
            "syntax_errors": look["syntax_errors"],
            "permissions": standings.to_value(),
            "image": image.as_ref().map(|(image, report)| json!({"key": image.key, "report": report})),
        });
        if self.json {
            printer.json(&about);
        } else {
            print(&about, printer);
            standings.print(printer);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(about: &Value, printer: &Printer) {
    let manifest = &about["manifest"];
    let row = |name: &str, text: String| printer.line(&format!("{name:<13} {}", harmless(&text)));
    row("skill", text(&about["skill"]));
    row("origin", about["origin"]["folder"].as_str().map_or_else(|| "pinned registry".to_owned(), str::to_owned));
    row("files", format!("{} ({})", about["files"], bytes(about["bytes"].as_u64().unwrap_or(0))));
    row("digest", text(&about["digest"]).chars().take(16).collect());
    if !about["manifest_error"].is_null() {
        printer.warning(&format!("the manifest can't be read: {}", text(&about["manifest_error"])));
    }
    for key in ["name", "version", "short_description", "shape"] {
        if !manifest[key].is_null() {
            row(key.rsplit('_').next().unwrap_or(key), text(&manifest[key]));
        }
    }
    row("params", names(&manifest["parameters"]["properties"], &manifest["parameters"]["required"]));
    row("requirements", list(&manifest["requirements"]));
    row("env_vars", names(&manifest["env_vars"], &Value::Null));
    for (kind, modules) in about["imports"].as_object().into_iter().flatten() {
        row(
            &format!("  {kind}"),
            modules.as_object().map_or_else(String::new, |all| all.keys().cloned().collect::<Vec<_>>().join(" ")),
        );
    }
    for (name, word) in about["refused_at_use"].as_object().into_iter().flatten() {
        row("", format!("{name} ({}) can be imported, not used: {}", text(&word["where"]), text(&word["why"])));
    }
    for error in about["syntax_errors"].as_array().into_iter().flatten() {
        printer.warning(&text(error));
    }
    row(
        "image",
        match about["image"]["key"].as_str() {
            Some(key) => {
                let report = &about["image"]["report"];
                format!("baked, {}, {key}", bytes(report["image_bytes"].as_u64().unwrap_or(0)))
            }
            None => "not baked yet; `skillcell build` or the first call does".to_owned(),
        },
    );
}

/// What the skill imports that a cell refuses at use, with where and why.
fn refused_at_use(imports: &Value) -> Map<String, Value> {
    let found = REFUSED_AT_USE.into_iter().filter_map(|(name, why)| {
        let place = imports["stdlib"].get(name)?;
        Some((name.to_owned(), json!({"where": place, "why": why})))
    });
    found.collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn list(value: &Value) -> String {
    let items: Vec<String> = value.as_array().into_iter().flatten().map(text).collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// The keys of an object; those that are required have a star.
fn names(value: &Value, required: &Value) -> String {
    let is_required = |name: &str| required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let names: Vec<String> = value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| if is_required(name) { format!("{name}*") } else { name.clone() })
        .collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
