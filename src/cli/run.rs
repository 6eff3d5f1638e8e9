//! `skillcell run`: one call, from the shell.

use std::process::ExitCode;

use clap::Args;

use super::call_args::CallArgs;
use super::origin::find_skill;
use super::printer::{Printer, escape_unprintable, one_line};
use super::{SettingArgs, input};
use skillcell_host::call::{Call, NoteKind, Outcome, Report};
use skillcell_host::plan::{Decision, PlanView};
use skillcell_limits::{LimitKind, Limits};
use skillcell_policy::{Denial, GrantKind, Written};

/// Call a skill once, in a fresh cell or, if it needs more, in another tier
///
/// The result goes to stdout as JSON; what the skill printed goes to stderr. The first call of a skill bakes its
/// image, and the first call of all gets the runtime ready, which takes a minute or two.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell run optimization/prompt_rewriter \\
      --params '{\"raw_text\": \"Could you please help\"}'
  skillcell run ./my_skill --params @params.json --timeout 5 --env REGION=eu
  skillcell run ./my_skill --config '{\"mode\": \"fast\"}'
  skillcell run ./my_skill --allow-http 'GET https://api.example.org/v1/*' \\
      --secret API_KEY@api.example.org
  skillcell approve ./my_skill && skillcell run ./my_skill
  skillcell run ./my_skill --mount ./in:/data --audit audit.jsonl --explain
  skillcell run --isolated ./needs_native_packages --params @params.json
  echo '{\"text\": \"hello\"}' | skillcell run ./my_skill --params - --json

Exit codes: 0 returned, 1 raised, 2 usage or host error, 3 refused, 4 a limit was exceeded.")]
pub struct RunCommand {
    /// A folder with a skill.py, or an id such as optimization/prompt_rewriter
    skill: String,
    /// What execute() gets: JSON, @FILE, or - for standard input
    #[arg(long, short, value_name = "JSON|@FILE|-", default_value = "{}")]
    params: String,
    /// What the skill's constructor gets as config, in the same forms
    #[arg(long, value_name = "JSON|@FILE|-")]
    config: Option<String>,
    /// Don't check the params against the manifest; execute() gets them as they are
    #[arg(long)]
    no_validate: bool,
    /// Print one JSON envelope with outcome, result, output and usage
    #[arg(long)]
    json: bool,
    /// Show what would be done (tier, grants, limits) and run nothing of the skill
    #[arg(long)]
    dry_run: bool,
    /// Leave out notes of this kind, since you know: `integer_width`, `stand_in` or `secret_not_used`
    #[arg(long, value_name = "KIND")]
    acknowledge: Vec<NoteKind>,
    #[command(flatten)]
    call: CallArgs,
}

impl RunCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let settings = self.call.load_settings(args)?;
        // Everything the operator gave is read before the host starts, so that mistakes fail at once.
        settings.check_grants()?;
        let params = input::json_text(&self.params, "--params")?;
        let config = self.config.as_deref().map(|given| input::json_object(given, "--config")).transpose()?;
        let defaults = settings.call_defaults()?;
        let host = args.build_host(&settings)?;
        let skill = find_skill(&host, &self.skill, args.quiet, printer)?;
        let mut call = defaults.call(skill.id()).with_params(&params)?;
        call.config = config;
        self.apply_flags(&mut call);
        if self.dry_run {
            return self.print_plan(skill.id(), &host.plan(&skill, &call)?, printer);
        }
        // A refusal is reported with the call's outcome below.
        if self.call.audit.explain
            && let Decision::Planned(plan) = host.plan(&skill, &call)?
        {
            plan.describe().iter().for_each(|line| printer.print_note(&escape_unprintable(line)));
        }
        let report = host.call(&skill, &call)?;
        drop(host); // clears the progress line
        if let Some(reason) = &report.tier_reason {
            printer.print_note(&one_line(&format!("`{}` ran in `{}`: {reason}", report.skill, report.tier)));
        }
        if let (Some(runtime), Some(reason)) = (report.runtime, &report.runtime_reason) {
            printer.print_note(&one_line(&format!("`{}` ran on `{runtime}`: {reason}", report.skill)));
        }
        if self.json {
            printer.print_json(&report.envelope());
        } else {
            warn_of_unused(&report, &call, printer);
            for note in &report.notes {
                printer.print_warning(&escape_unprintable(&note.message));
            }
            self.print_report(&report, &call.limits, printer);
        }
        Ok(ExitCode::from(match report.outcome {
            Outcome::Returned(_) => 0,
            Outcome::Raised(_) => 1,
            Outcome::Refused => 3,
            Outcome::Exceeded(..) => 4,
            // Cancelled, busy: nothing that the skill did.
            _ => 2,
        }))
    }

    /// Prints the plan on stdout: it is the result of `--dry-run`.
    fn print_plan(&self, skill: &str, decision: &Decision, printer: &Printer) -> anyhow::Result<ExitCode> {
        print_decision(skill, decision, self.json, printer);
        Ok(if matches!(decision, Decision::Refused(_)) { ExitCode::from(3) } else { ExitCode::SUCCESS })
    }

    fn apply_flags(&self, call: &mut Call) {
        self.call.apply_to(call);
        call.validate = !self.no_validate;
        call.acknowledge = self.acknowledge.clone();
    }

    fn print_report(&self, report: &Report, limits: &Limits, printer: &Printer) {
        printer.print_skill_output(&report.stdout);
        printer.print_skill_output(&report.stderr);
        let refused = matches!(report.outcome, Outcome::Refused);
        print_denials(&report.skill, &report.denials, refused, printer);
        match &report.outcome {
            Outcome::Returned(result) => printer.print_result(result.get()),
            Outcome::Raised(raised) => {
                printer.print_skill_output(raised.traceback.as_bytes());
                printer.print_error(&format!("`{}` raised {}: {}", report.skill, raised.kind, raised.message));
            }
            Outcome::Refused if !report.denials.is_empty() => {}
            _ => print_end(report, limits, printer),
        }
    }
}

/// What was decided about a call, on stdout.
pub fn print_decision(skill: &str, decision: &Decision, json: bool, printer: &Printer) {
    match decision {
        _ if json => printer.print_json(&PlanView::new(skill, decision)),
        Decision::Planned(plan) => {
            plan.describe().iter().for_each(|line| printer.print_line(&escape_unprintable(line)));
        }
        Decision::Refused(refused) => print_denials(skill, &refused.denials, true, printer),
    }
}

/// Why a call did not come to its end.
pub fn print_end(report: &Report, limits: &Limits, printer: &Printer) {
    match &report.outcome {
        Outcome::Refused if report.denials.is_empty() => printer.print_error("the call was refused"),
        Outcome::Refused => print_denials(&report.skill, &report.denials, true, printer),
        Outcome::Cancelled => printer.print_error(&format!("the call of `{}` was cancelled", report.skill)),
        Outcome::Exceeded(limit, raised) => {
            // A script has shown its exception itself.
            if let Some(raised) = raised.as_ref().filter(|raised| raised.exit_code.is_none()) {
                printer.print_skill_output(raised.traceback.as_bytes());
            }
            printer.print_error(&format!("`{}` went over a limit: {}", report.skill, describe_limit(*limit, limits)));
            if let Some(flag) = limit.flag() {
                printer.print_hint(&format!("`{flag}` sets this limit"));
            }
        }
        Outcome::Busy => printer.print_error("no place for another cell came free in time"),
        other => printer.print_error(&format!("the call of `{}` ended as {}", report.skill, other.name())),
    }
}

/// What was refused: the call itself, or something that it asked for while it ran.
pub fn print_denials(skill: &str, denials: &[Denial], whole_call: bool, printer: &Printer) {
    let mut approval_hinted = false;
    for Denial { message, hint, .. } in denials {
        if whole_call {
            printer.print_error(&format!("`{skill}` was refused: {message}"));
        } else {
            printer.print_warning(&format!("a request of `{skill}` was refused: {message}"));
        }
        if let Some(hint) = hint {
            // One approval covers every denial, so that hint is printed once.
            printer.print_hint(&if approval_hinted { without_approving(hint) } else { hint.clone() });
            approval_hinted |= hint.contains(APPROVE);
        }
    }
}

/// Warns of grants without effect that were given as flags. Those of a policy file may be for other skills.
fn warn_of_unused(report: &Report, call: &Call, printer: &Printer) {
    let is_flag = |text: &&String| {
        GrantKind::ALL.into_iter().any(|kind| matches!(call.grants.place_of(kind, text), Written::Flag))
    };
    for text in report.unused_grants.iter().filter(is_flag) {
        let skill = &report.skill;
        printer.print_warning(&escape_unprintable(&format!(
            "`{text}` does not hold: the `permissions` of `{skill}` don't ask for it"
        )));
    }
}

/// How a hint names the command that approves.
const APPROVE: &str = "`skillcell approve ";

/// A hint without its alternative to run `skillcell approve`.
fn without_approving(hint: &str) -> String {
    hint.split("; ").filter(|way| !way.starts_with(APPROVE)).collect::<Vec<_>>().join("; ")
}

/// A limit in words, with its value.
fn describe_limit(kind: LimitKind, limits: &Limits) -> String {
    let value = match kind {
        LimitKind::Deadline => format!("{:?}", limits.deadline),
        LimitKind::Memory => super::printer::format_bytes(limits.memory_bytes),
        LimitKind::StdoutBytes => super::printer::format_bytes(limits.stdout_bytes),
        LimitKind::StderrBytes => super::printer::format_bytes(limits.stderr_bytes),
        LimitKind::ResultBytes => super::printer::format_bytes(limits.result_bytes),
        LimitKind::OpenFiles => limits.open_files.to_string(),
        LimitKind::ScratchBytes => super::printer::format_bytes(limits.scratch_bytes),
        LimitKind::ScratchFiles => limits.scratch_files.to_string(),
        LimitKind::HostCalls => limits.host_calls.to_string(),
        LimitKind::Fuel => limits.fuel.unwrap_or_default().to_string(),
        LimitKind::Recursion => return "its calls nest too deeply".to_owned(),
        _ => return kind.to_string(),
    };
    format!("{kind} ({value})")
}
