//! `skillcell list`: the skills that an id would lead to, with what is known of each.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::{Value, json};

use super::printer::Printer;
use super::{SettingArgs, progress};
use skillcell_cache::progress::Progress;
use skillcell_host::{Host, HostError, Known};
use skillcell_packages::skill::{Found, Origin, Skill};
use skillcell_study::analysis::{Verdict, analyse, analyse_scripts, overall_verdict};
use skillcell_study::matrix::matches_glob;

/// List the skills that would be found, with their verdicts and images
///
/// Looks in SKILLWARE_SKILL_PATH, in ./skills here and in the folders above, then in the pinned registry. An id that is in
/// two of these is listed once, where it would be found. A verdict is shown where one was reached before, by `inspect`,
/// `matrix` or --verdicts, and no file of the skill changed since; reaching one takes a second or two.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell list
  skillcell list 'office/*' --verdicts
  skillcell list --json | jq -r '.skills[] | select(.baked).skill'")]
pub struct ListCommand {
    /// Only skills whose id matches one of these; * stands for any text
    #[arg(value_name = "GLOB")]
    globs: Vec<String>,
    /// Reach the verdicts that are missing
    #[arg(long)]
    verdicts: bool,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

struct Row {
    id: String,
    origin: Origin,
    digest: Option<String>,
    known: Known,
    /// Why it can't be read.
    error: Option<String>,
}

const NOT_KNOWN: &str = "-";

impl ListCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let line = Arc::new(progress::Terminal::new(args.quiet));
        let host = args.load_settings()?.host_builder_without_approvals().progress(line.clone()).build()?;
        let skills = self.find_skills(&host, printer)?;
        let (mut rows, count) = (Vec::new(), skills.len());
        for (at, found) in skills.into_iter().enumerate() {
            rows.push(self.inspect_skill(&host, found, &|id| {
                line.step(&format!("looking at {id} ({} of {count})", at + 1));
            })?);
        }
        drop((host, line)); // clears the progress line
        if self.json {
            let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
            printer.print_json(&json!({"schema": 1, "skills": rows}));
        } else {
            self.print_rows(&rows, printer);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Skills of folders and of the registry; if the registry can't be obtained, those of folders alone.
    fn find_skills(&self, host: &Host, printer: &Printer) -> anyhow::Result<Vec<Found>> {
        let mut found = host.folder_skills();
        match host.registry_ids() {
            Ok(ids) => {
                // A folder takes precedence over the registry, as it does in a call.
                let is_shadowed = |id: &str| found.iter().any(|own| own.id() == id);
                let ids: Vec<String> = ids.into_iter().filter(|id| !is_shadowed(id)).collect();
                found.extend(ids.into_iter().map(|id| Found::Registry { id }));
            }
            Err(error) if found.is_empty() => return Err(error.into()),
            Err(error) => printer.print_warning(&format!("the registry's skills are not listed: {error}")),
        }
        found.retain(|found| self.globs.is_empty() || self.globs.iter().any(|glob| matches_glob(glob, found.id())));
        Ok(found)
    }

    fn inspect_skill(&self, host: &Host, found: Found, tell: &dyn Fn(&str)) -> anyhow::Result<Row> {
        let id = found.id().to_owned();
        let (origin, skill) = match found {
            Found::Folder { id, path } => (Origin::Folder(path.clone()), Skill::from_folder(&id, &path)),
            Found::Registry { id } => (Origin::Registry, Skill::from_registry(host.registry()?, &id)),
        };
        let skill = match skill {
            Ok(skill) => skill,
            Err(error) => {
                let error = format!("{:#}", anyhow::Error::from(error));
                return Ok(Row { id, origin, digest: None, known: Known::default(), error: Some(error) });
            }
        };
        let mut row = Row {
            id,
            origin,
            digest: Some(skill.digest().to_owned()),
            known: host.known(&skill, skillcell_study::analysis::DIGEST)?,
            error: None,
        };
        if self.verdicts && row.known.verdict.is_none() {
            tell(&row.id);
            // An analysis that fails costs only this row.
            match verdict_of(host, &skill) {
                Ok(verdict) => row.known.verdict = Some(verdict),
                Err(error) => row.error = Some(format!("{:#}", anyhow::Error::from(error))),
            }
        }
        Ok(row)
    }

    fn print_rows(&self, rows: &[Row], printer: &Printer) {
        if rows.is_empty() {
            printer.print_note("there is no such skill");
            return;
        }
        let cells: Vec<Vec<String>> = rows.iter().map(Row::table_cells).collect();
        printer.print_styled_table(&["skill", "verdict", "image", "from"], &cells, |row, column| match column {
            1 => rows[row].verdict_style(),
            _ => Style::new(),
        });
        for row in rows {
            if let Some(error) = &row.error {
                printer.print_warning(&format!("`{}`: {error}", row.id));
            }
        }
        let unknown = rows.iter().filter(|row| row.known.verdict.is_none() && row.error.is_none()).count();
        if unknown > 0 {
            let (skills, them) = if unknown == 1 {
                ("1 skill has".to_owned(), "it")
            } else {
                (format!("{unknown} skills have"), "them")
            };
            printer.print_hint(&format!(
                "{skills} no verdict yet: `skillcell list --verdicts` reaches {them}, in a second or two each"
            ));
        }
    }
}

impl Row {
    fn table_cells(&self) -> Vec<String> {
        let image = if self.known.is_baked { "baked" } else { NOT_KNOWN };
        let from = match &self.origin {
            Origin::Folder(path) => display_root(path, &self.id),
            Origin::Registry => "registry".to_owned(),
            Origin::Memory => "memory".to_owned(),
        };
        vec![self.id.clone(), self.verdict_text().to_owned(), image.to_owned(), from]
    }

    fn verdict_text(&self) -> &str {
        match (&self.known.verdict, &self.error) {
            (_, Some(_)) => "unreadable",
            (Some((verdict, _)), None) => verdict,
            (None, None) => NOT_KNOWN,
        }
    }

    fn verdict_style(&self) -> Style {
        let is = |verdict: Verdict| self.verdict_text() == verdict.name();
        match () {
            () if is(Verdict::Runs) || is(Verdict::RunsWithGrants) => AnsiColor::Green.on_default(),
            () if is(Verdict::Partly) => AnsiColor::Yellow.on_default(),
            () if self.verdict_text() == NOT_KNOWN => Style::new().dimmed(),
            () => AnsiColor::Red.on_default(),
        }
    }

    fn to_json(&self) -> Value {
        let (verdict, reason) = self.known.verdict.clone().unzip();
        json!({
            "skill": self.id,
            "origin": match &self.origin {
                Origin::Folder(path) => json!({"folder": path}),
                Origin::Registry => json!("registry"),
                Origin::Memory => json!("memory"),
            },
            "digest": self.digest,
            "verdict": verdict,
            "reason": reason.flatten(),
            "baked": self.known.is_baked,
            "error": self.error,
        })
    }
}

/// The verdict in brief: of a folder with scripts, by all of them.
fn verdict_of(host: &Host, skill: &Skill) -> Result<(String, Option<String>), HostError> {
    if !skill.is_agent_skill() {
        return Ok(analyse(host, skill)?.in_brief());
    }
    let scripts = analyse_scripts(host, skill)?;
    let verdict = overall_verdict(&scripts).map_or("no scripts", Verdict::name);
    let reason = scripts.iter().find_map(|script| script.analysis.in_brief().1);
    host.remember_verdict(skill, skillcell_study::analysis::DIGEST, verdict, reason.as_deref());
    Ok((verdict.to_owned(), reason))
}

/// The folder that ids are relative to, shortened if it is below the working directory.
fn display_root(path: &std::path::Path, id: &str) -> String {
    let root: PathBuf = path.ancestors().nth(id.split('/').count()).unwrap_or(path).to_owned();
    let near = std::env::current_dir()
        .ok()
        .and_then(|here| root.strip_prefix(here).ok().map(|below| PathBuf::from(".").join(below)));
    near.unwrap_or(root).display().to_string()
}
