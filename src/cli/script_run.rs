//! What `skillcell script` and `skillcell python` share: their flags, and one run from the call to the exit code.
//!
//! Nothing of ours goes to stdout or stderr of a run that came to its end with 0, so that either stands in the place of `python3`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::call_args::CallArgs;
use super::printer::Printer;
use super::stdin::HostStdin;
use super::streams::Streams;
use super::{SettingArgs, run};
use crate::settings::Settings;
use skillcell_cache::progress::Silent;
use skillcell_host::call::{Call, Outcome, Report};
use skillcell_host::entry::Input;
use skillcell_host::plan::Decision;
use skillcell_host::written::write_files;
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::Skill;

/// Exit codes that are ours, as timeout(1) and `docker run` have them.
const EXCEEDED: u8 = 124;
pub const FAILED: u8 = 125;
const REFUSED: u8 = 126;
/// The largest file that is laid into the working folder.
const MAX_IN_BYTES: u64 = 256 << 20;

#[derive(Args)]
pub struct ScriptArgs {
    /// Lay a file of this machine into the working folder, under its own name or as FILE:PATH (repeatable)
    #[arg(long = "in", value_name = "FILE[:PATH]")]
    inputs: Vec<String>,
    /// Put the files that were written in the working folder into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON envelope with outcome, exit code, output, files and usage instead
    #[arg(long)]
    json: bool,
    /// Show what would be done (tier, grants, limits) and run nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    call: CallArgs,
}

/// What a run is made with.
pub struct Ready {
    pub host: Host,
    pub skill: Skill,
    pub call: Call,
}

impl ScriptArgs {
    /// Makes the call that `enter` says, of the skill that `find` finds. Errors are told here, with the code that is ours.
    pub fn execute(
        &self,
        args: &SettingArgs,
        printer: &Printer,
        find: impl FnOnce(&Host) -> Result<Skill, HostError>,
        enter: impl FnOnce(Call) -> Call,
    ) -> anyhow::Result<ExitCode> {
        Ok(ExitCode::from(self.run_once(args, printer, find, enter).unwrap_or_else(|error| {
            printer.print_error_chain(&error);
            FAILED
        })))
    }

    fn run_once(
        &self,
        args: &SettingArgs,
        printer: &Printer,
        find: impl FnOnce(&Host) -> Result<Skill, HostError>,
        enter: impl FnOnce(Call) -> Call,
    ) -> anyhow::Result<u8> {
        let Ready { host, skill, mut call } = self.prepare(args, find, enter)?;
        if let Some(script) = call.script_mut() {
            script.stdin = Input::Stream(Arc::new(HostStdin::default()));
        }
        if self.dry_run {
            return Ok(self.print_plan(skill.id(), &host.plan(&skill, &call)?, printer));
        }
        if self.json {
            let report = host.call(&skill, &call)?;
            drop(host); // clears the progress line
            self.take_files(&report)?;
            printer.print_json(&report.envelope());
            return Ok(exit_code(&report));
        }
        let report = run_shown(&host, &skill, call.clone())?;
        drop(host);
        self.take_files(&report)?;
        explain_end(&report, &call, printer);
        Ok(exit_code(&report))
    }

    /// Puts what the run wrote where it was asked for.
    pub fn take_files(&self, report: &Report) -> anyhow::Result<()> {
        match &self.out {
            Some(folder) => Ok(write_files(folder, &report.files)?),
            None => Ok(()),
        }
    }

    /// The host, the skill and the call that the flags ask for.
    pub fn prepare(
        &self,
        args: &SettingArgs,
        find: impl FnOnce(&Host) -> Result<Skill, HostError>,
        enter: impl FnOnce(Call) -> Call,
    ) -> anyhow::Result<Ready> {
        let settings = self.call.load_settings(args)?;
        settings.check_grants()?;
        let files = self.inputs.iter().map(|given| read_input(given)).collect::<anyhow::Result<Vec<_>>>()?;
        let defaults = settings.call_defaults()?;
        let host = self.build_host(args, &settings)?;
        let skill = find(&host)?;
        let mut call = enter(defaults.call(skill.id()));
        self.call.apply_to(&mut call);
        if let Some(script) = call.script_mut() {
            script.files.extend(files);
        }
        Ok(Ready { host, skill, call })
    }

    /// Progress is for who watches: in a pipe stderr is the script's.
    fn build_host(&self, args: &SettingArgs, settings: &Settings) -> Result<Host, HostError> {
        let builder = settings.host_builder()?;
        if std::io::stderr().is_terminal() {
            return builder.progress(Arc::new(super::progress::Terminal::new(args.quiet))).build();
        }
        builder.progress(Arc::new(Silent)).build()
    }

    fn print_plan(&self, skill: &str, decision: &Decision, printer: &Printer) -> u8 {
        run::print_decision(skill, decision, self.json, printer);
        if matches!(decision, Decision::Refused(_)) { REFUSED } else { 0 }
    }
}

/// `FILE`, or `FILE:PATH` where there is no file of that whole name.
fn read_input(given: &str) -> anyhow::Result<(String, Arc<[u8]>)> {
    let (file, path) = match given.rsplit_once(':') {
        Some((file, path)) if !Path::new(given).exists() => (file, path.to_owned()),
        _ => {
            let name = Path::new(given).file_name().and_then(|name| name.to_str());
            (given, name.with_context(|| format!("`{given}` has no name that is text"))?.to_owned())
        }
    };
    let unreadable = || format!("`{file}`, for `--in`, can't be read");
    let opened = std::fs::File::open(file).with_context(unreadable)?;
    anyhow::ensure!(opened.metadata().with_context(unreadable)?.is_file(), "`{file}`, for `--in`, is not a file");
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(opened, MAX_IN_BYTES + 1), &mut bytes)
        .with_context(unreadable)?;
    anyhow::ensure!(bytes.len() as u64 <= MAX_IN_BYTES, "`{file}`, for `--in`, is larger than 256 MiB");
    Ok((path, bytes.into()))
}

/// Says why a run did not come to its end, or what it was denied or lacked if it failed.
pub fn explain_end(report: &Report, call: &Call, printer: &Printer) {
    match &report.outcome {
        Outcome::Returned(_) => {}
        Outcome::Raised(raised) => {
            run::print_denials(&report.skill, &report.denials, false, printer);
            if raised.exit_code.is_none() {
                printer.print_error(&format!("{}: {}", raised.kind, raised.message));
            }
            if let Some(missing) = raised.missing.as_ref() {
                let why = missing.why.as_deref().unwrap_or("no package is known to have it");
                printer.print_hint(&format!("`{}` is not in the cell: {why}", missing.module));
            }
        }
        _ => run::print_end(report, &call.limits, printer),
    }
}

/// Makes the call, and shows what it prints as it comes.
pub fn run_shown(host: &Host, skill: &Skill, mut call: Call) -> anyhow::Result<Report> {
    let streams = Streams::start(&mut call);
    let report = host.call(skill, &call)?;
    streams.finish(&report)?;
    Ok(report)
}

pub fn exit_code(report: &Report) -> u8 {
    match report.outcome {
        Outcome::Exceeded(..) => EXCEEDED,
        Outcome::Refused => REFUSED,
        _ => report.exit_code.unwrap_or(FAILED),
    }
}
