//! `skillcell build`: bake a skill's image ahead, and say what that did.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::origin::find_skill;
use super::printer::{Printer, format_bytes, one_line};
use super::{SettingArgs, input};
use crate::settings::Settings;
use skillcell_cell::Ending;
use skillcell_cell::image::{BakeError, BakeReport, WarmUp, Warmth};
use skillcell_host::HostError;
use skillcell_host::call::{ImageUse, Outcome};
use skillcell_limits::Limits;

/// Importing a skill may take more than a call.
const DEFAULT_TIME: Duration = Duration::from_secs(120);
const DEFAULT_MEMORY: u64 = 512 << 20;

/// Bake a skill's image ahead of its first call
///
/// The skill is imported, constructed, and called with examples: --warm-up, what its manifest has under `warm_up` and
/// `examples`, what its tests call it with, and params made from its schema. What that leaves in memory is what every
/// call starts from, if it changes nothing that a call gives.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell build optimization/prompt_rewriter \\
      --warm-up '{\"raw_text\": \"Could you please help\"}'
  skillcell build ./my_skill --timeout 5m --memory 1G --json")]
pub struct BuildCommand {
    /// A folder with a skill.py, or an id
    skill: String,
    /// Example params for a call before the image is taken: JSON, @FILE, or -
    #[arg(long, value_name = "JSON|@FILE|-")]
    warm_up: Option<String>,
    /// How long importing the skill may take [default: 120]
    #[arg(long, value_name = "TIME", value_parser = input::time)]
    timeout: Option<Duration>,
    /// How much memory that may take [default: 512M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    memory: Option<u64>,
    /// Print the bake report as JSON
    #[arg(long)]
    json: bool,
}

impl BuildCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let warm_up = match &self.warm_up {
            Some(given) => WarmUp::Params(input::json_object(given, "--warm-up")?),
            None => WarmUp::Manifest,
        };
        let mut overrides = args.overrides();
        (overrides.limits.timeout, overrides.limits.memory) = (self.timeout, self.memory);
        let settings = Settings::load(overrides)?;
        let mut limits = Limits::within(DEFAULT_TIME);
        limits.memory_bytes = DEFAULT_MEMORY;
        let limits = settings.limit_overrides.apply_to(limits);
        let host = args.build_host(&settings)?;
        let skill = find_skill(&host, &self.skill, args.quiet, printer)?;
        let built = host.build(&skill, &warm_up, &limits);
        drop(host);
        match built {
            Ok((image, report)) => self.print_report(&image, &report, printer),
            Err(HostError::Bake(BakeError::Ended(ending))) => {
                return Ok(self.print_failure(skill.id(), &ending, printer));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print_report(&self, image: &ImageUse, report: &BakeReport, printer: &Printer) {
        if self.json {
            printer.print_json(&json!({
                "schema": 1, "skill": report.skill, "image": image, "baked": true, "report": report, "error": null,
                "limit": null,
            }));
            return;
        }
        printer.print_line(&format!("baked {} as {}", one_line(&report.skill), image.key));
        printer.print_line(&format!(
            "  image {}, import {:.0} ms, constructor {:.0} ms, warm-up {}, {:.0} ms in all",
            format_bytes(report.image_bytes),
            report.import_ms,
            report.construct_ms,
            one_line(report.warm_up.as_deref().unwrap_or("none")),
            report.total_ms,
        ));
        if !report.imported.is_empty() {
            printer.print_line(&one_line(&format!("  imported {}", report.imported.join(" "))));
        }
        if report.warm_up_calls > 0 {
            let kept = match report.warmth {
                Warmth::Calls => "all of it",
                Warmth::Libraries => "only what they import",
                Warmth::Cold => "nothing of it",
            };
            let why = report.cold_reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let (calls, ms) = (report.warm_up_calls, report.warm_up_ms);
            let line = format!("  warmed by {calls} calls in {ms:.0} ms; {kept} is in the image{why}");
            printer.print_line(&one_line(&line));
        }
        if let Some(raised) = &report.constructor_error {
            printer.print_warning(&format!(
                "it can't be constructed without config, so each call does that: {}: {}",
                raised.kind, raised.message
            ));
        }
        if report.open_files > 0 || report.scratch_files > 0 {
            printer.print_warning(&format!(
                "importing it leaves {} open and {} in scratch space, which no image can hold, so each call imports it",
                describe_file_count(report.open_files),
                describe_file_count(report.scratch_files)
            ));
        }
        if report.entropy_bytes > 0 {
            printer.print_warning(&format!(
                "importing it drew {} random bytes: what it made of them is the same in every call",
                report.entropy_bytes
            ));
            printer.print_hint("`skillcell run --no-image` imports the skill anew in each call");
        }
    }

    fn print_failure(&self, skill: &str, ending: &Ending, printer: &Printer) -> ExitCode {
        let (raised, limit, code) = match &ending.outcome {
            Outcome::Exceeded(limit, raised) => (raised.as_ref(), Some(limit), 4),
            Outcome::Raised(raised) => (Some(raised), None, 1),
            _ => (None, None, 2),
        };
        if self.json {
            printer.print_json(&json!({
                "schema": 1, "skill": skill, "image": null, "baked": false, "report": null, "error": raised, "limit": limit,
            }));
            return ExitCode::from(code);
        }
        printer.print_skill_output(&ending.stdout);
        printer.print_skill_output(&ending.stderr);
        if let Some(raised) = raised {
            printer.print_skill_output(raised.traceback.as_bytes());
        }
        printer.print_error(&format!("`{skill}` can't be baked: {}", ending.outcome.describe()));
        ExitCode::from(code)
    }
}

fn describe_file_count(files: u32) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}
