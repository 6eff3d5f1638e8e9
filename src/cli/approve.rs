//! `skillcell approve`: shows what a skill asks for, and records that it may have it.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};

use super::SettingArgs;
use super::origin::find_skill;
use super::printer::{Printer, one_line};
use crate::settings::Settings;
use skillcell_door::audit::when::date;
use skillcell_host::Host;
use skillcell_host::approvals::{Approval, ApprovalState, Approvals, Difference};
use skillcell_host::plan::{Decision, PlanView};
use skillcell_packages::skill::Skill;
use skillcell_policy::Tier;
use skillcell_policy::manifest::Manifest;
use skillcell_policy::{Change, Permissions, Wish};

/// Show what a skill asks for, and approve it as it is now
///
/// A skill asks with `permissions` in its manifest. Approving it grants what it asks for in every later `run`, for as
/// long as no file of it changes; then it is refused, and this command shows what changed. Folders are not granted by it:
/// name them with --mount. Secrets come from your environment unless --secret or a policy file names another source.
///
/// An approved skill may go to the tiers `container` and `subprocess` if it can't run in a cell. With `--tier in_process` it
/// may also run there, without any isolation: with all that you may do.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell approve ./my_skill
  skillcell approve ./my_skill --yes --json
  skillcell approve ./my_skill --tier subprocess
  skillcell approve --list
  skillcell approve --revoke ./my_skill

Exit codes: 0 approved (or nothing to approve), 2 usage or host error, 3 you said no.")]
pub struct ApproveCommand {
    /// A folder with a skill.py, or with a SKILL.md and scripts, or an id
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    skill: Option<String>,
    /// Approve it for this tier too: container, subprocess or in_process; also where it asks for nothing else
    #[arg(long = "tier", value_name = "TIER", conflicts_with_all = ["list", "revoke"])]
    tiers: Vec<Tier>,
    /// Show what is approved
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Forget what was approved of the skill
    #[arg(long)]
    revoke: bool,
    /// Approve without asking; needed where there is no terminal to ask on
    #[arg(long, short)]
    yes: bool,
    /// Print it as JSON; nothing is asked then, so approving needs --yes
    #[arg(long)]
    json: bool,
}

/// A skill with what it asks for, as shown to the operator before they decide.
struct ApprovalRequest<'a> {
    skill: &'a Skill,
    wishes: Vec<Wish>,
    /// Tiers that the approval will name.
    tiers: Vec<Tier>,
    /// What changed since the approval on record, if it is of another state.
    difference: Option<Difference>,
    /// Variables in `env_vars` that `permissions` doesn't request.
    unasked: Vec<String>,
    /// The plan of a call after approval.
    decision: Decision,
}

impl ApproveCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let settings = args.load_settings()?;
        let approvals = settings.approvals()?;
        let Some(name) = &self.skill else {
            self.print_list(&approvals.all()?, printer);
            return Ok(ExitCode::SUCCESS);
        };
        let host = args.build_host(&settings)?;
        if self.revoke {
            self.revoke_skill(name, &host, &approvals, printer)
        } else {
            self.approve_skill(name, host, &settings, printer)
        }
    }

    fn approve_skill(
        &self,
        name: &str,
        host: Host,
        settings: &Settings,
        printer: &Printer,
    ) -> anyhow::Result<ExitCode> {
        let approvals = settings.approvals()?;
        let skill = find_skill(&host, name, false, printer)?;
        let manifest = host.manifest(&skill)?;
        let asked = manifest.permissions.clone().unwrap_or_default();
        let standing = approvals.standing(&skill)?;
        let tiers = self.tiers_to_approve(&standing);
        // Planned without recording anything: the operator sees the outcome before deciding.
        let decision = host.plan_if_approved(&skill, &settings.unrecorded_call(skill.id()), &tiers)?;
        drop(host); // clears the progress line
        let difference = match &standing {
            ApprovalState::Changed(approval) => Some(Difference::between(approval, &skill, &asked)),
            _ => None,
        };
        let unasked = unasked_variables(&manifest, &asked);
        let case = ApprovalRequest { skill: &skill, wishes: asked.wishes(), tiers, difference, unasked, decision };
        let nothing_asked = asked.is_empty() && case.tiers.is_empty();
        if !self.json {
            case.print_request(printer);
        }
        // Dropping the approval of another state lifts a refusal, so it needs confirmation as well.
        if nothing_asked
            && matches!(standing, ApprovalState::Changed(_))
            && !self.yes
            && !confirm_on_terminal(&skill, self.json)?
        {
            return Ok(self.report_state(&case, "declined", "what was approved of it still counts", printer));
        }
        if nothing_asked {
            let withdrawn = approvals.revoke(&skill)?;
            return Ok(self.report_state(&case, "nothing_asked", &nothing_to_approve(!withdrawn.is_empty()), printer));
        }
        // Approving again would only move the date of an approval that says the same.
        if let ApprovalState::Approved(approval) = &standing
            && approval.is_for(&skill)
            && approval.tiers == case.tiers
        {
            let words = format!("it was approved in this state on {}", date(approval.approved));
            return Ok(self.report_state(&case, "approved", &words, printer));
        }
        if !self.yes && !confirm_on_terminal(&skill, self.json)? {
            return Ok(self.report_state(&case, "declined", "it is not approved", printer));
        }
        approvals.approve(&skill, &asked, &case.tiers)?;
        Ok(self.report_state(&case, "approved", "it is approved, until a file of it changes", printer))
    }

    /// The tiers given with `--tier`, plus those of an approval that still holds.
    fn tiers_to_approve(&self, standing: &ApprovalState) -> Vec<Tier> {
        let before = match standing {
            ApprovalState::Approved(approval) => approval.tiers.as_slice(),
            _ => &[],
        };
        // The wasm tier needs no approval.
        let named = |tier: &Tier| *tier != Tier::Wasm && (before.contains(tier) || self.tiers.contains(tier));
        Tier::ALL.into_iter().filter(named).collect()
    }

    fn report_state(&self, case: &ApprovalRequest<'_>, state: &str, words: &str, printer: &Printer) -> ExitCode {
        if self.json {
            printer.print_json(&json!({
                "schema": 1,
                "skill": case.skill.id(),
                "digest": case.skill.digest(),
                "state": state,
                "asks": case.wishes,
                "tiers": case.tiers,
                "difference": case.difference.as_ref().map(Difference::to_value),
                "plan": PlanView::new(case.skill.id(), &case.decision),
            }));
        } else {
            printer.print_note(&one_line(&format!("`{}`: {words}", case.skill.id())));
        }
        ExitCode::from(if state == "declined" { 3 } else { 0 })
    }

    fn revoke_skill(
        &self,
        name: &str,
        host: &Host,
        approvals: &Approvals,
        printer: &Printer,
    ) -> anyhow::Result<ExitCode> {
        let gone = match host.skill(name) {
            Ok(skill) => approvals.revoke(&skill)?,
            Err(_) => approvals.revoke_named(name)?,
        };
        if gone.is_empty() {
            bail!("nothing of `{name}` is approved");
        }
        if self.json {
            printer.print_json(
                &json!({"schema": 1, "revoked": gone.iter().map(|approval| approval_json(approval)).collect::<Vec<_>>()}),
            );
        } else {
            for approval in &gone {
                printer
                    .print_note(&one_line(&format!("`{}` is no longer approved ({})", approval.skill, approval.place)));
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print_list(&self, all: &[Arc<Approval>], printer: &Printer) {
        if self.json {
            printer.print_json(
                &json!({"schema": 1, "approvals": all.iter().map(|approval| approval_json(approval)).collect::<Vec<_>>()}),
            );
            return;
        }
        if all.is_empty() {
            printer.print_note("nothing is approved");
            return;
        }
        let row = |approval: &Arc<Approval>| {
            let digest = approval.digest.chars().take(16).collect();
            vec![approval.skill.clone(), date(approval.approved), digest, approval.place.clone()]
        };
        printer.print_table(&["skill", "approved", "digest", "place"], &all.iter().map(row).collect::<Vec<_>>());
        for approval in all {
            printer.print_line("");
            printer.print_line(&one_line(&format!("{} may:", approval.skill)));
            for wish in approval.permissions.wishes().iter().filter(|wish| wish.granted_by_approval) {
                printer.print_line(&one_line(&format!("  - {}", wish.words)));
            }
            for tier in &approval.tiers {
                printer.print_line(&format!("  - {}", describe_tier_approval(*tier)));
            }
        }
    }
}

impl ApprovalRequest<'_> {
    fn print_request(&self, printer: &Printer) {
        let line = |text: String| printer.print_line(&one_line(&text));
        let digest: String = self.skill.digest().chars().take(16).collect();
        line(format!("{} ({} files, digest {digest})", self.skill.id(), self.skill.files().len()));
        if let Some(difference) = &self.difference {
            line("it was approved in another state. Since then:".into());
            let changes = difference.permissions.iter().map(Change::describe);
            changes
                .chain(difference.files.iter().map(|file| file.describe()))
                .for_each(|words| line(format!("  * {words}")));
        }
        if !self.wishes.is_empty() {
            line("it asks to".into());
        }
        for wish in &self.wishes {
            line(format!("  - {}", wish.words));
            line(format!("      exposes: {}", wish.exposes));
            if let Some(reason) = &wish.reason {
                line(format!("      its author says: {reason}"));
            }
            // A folder, or what the policy file denies, stays missing even after approval.
            let missing = self.decision.effective().missing.iter().find(|missing| missing.words == wish.words);
            if let Some(missing) = missing {
                let mount = wish.asked.as_str();
                let way = match &missing.denied_by {
                    Some(rule) => format!("the policy file denies it, `{rule}`"),
                    None => format!("name the folder in each run, `--mount FOLDER:{mount}`"),
                };
                line(format!("      not granted by approving: {way}"));
            }
        }
        if !self.tiers.is_empty() {
            line("you would have it".into());
        }
        for tier in &self.tiers {
            line(format!("  - {}", describe_tier_approval(*tier)));
        }
        for name in &self.unasked {
            let way = if self.wishes.is_empty() {
                format!("`--secret {name}@HOST` gives it")
            } else {
                "no grant gives it, its author would have to add it to `permissions`".to_owned()
            };
            line(format!("  its manifest names the variable {name}, without asking for it: {way}"));
        }
        match &self.decision {
            Decision::Planned(plan) => line(format!("approved, a call runs in {}", plan.describe_tier())),
            Decision::Refused(refused) => {
                let why = refused.denials.iter().map(|denial| denial.message.as_str()).collect::<Vec<_>>().join("; ");
                line(format!("approved, a call is still refused: {why}"));
            }
        }
    }
}

/// What approving a skill for a tier means.
fn describe_tier_approval(tier: Tier) -> String {
    if tier.is_isolated() {
        format!("run in the tier `{tier}`, if it can't run in a cell")
    } else {
        format!(
            "run in the tier `{tier}`, without isolation: read and change all of your files, use your keys, reach any network"
        )
    }
}

/// Names in Skillware's `env_vars` that `permissions` say nothing about.
fn unasked_variables(manifest: &Manifest, asked: &Permissions) -> Vec<String> {
    let is_asked = |name: &str| {
        asked.env.iter().any(|env| env.what == name) || asked.secrets.iter().any(|secret| secret.what.name == name)
    };
    manifest.env_vars.iter().filter(|name| !is_asked(name)).take(64).cloned().collect()
}

fn nothing_to_approve(withdrawn: bool) -> String {
    let earlier = if withdrawn { "; what was approved of it before is forgotten" } else { "" };
    format!("it asks for nothing, so there is nothing to approve{earlier}")
}

/// Asks on the terminal. Anything but a yes is a no.
fn confirm_on_terminal(skill: &Skill, json: bool) -> anyhow::Result<bool> {
    if json {
        bail!("with `--json` nothing is asked: `--yes` approves `{}` without asking", skill.id());
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        bail!("there is no terminal to ask on: `--yes` approves `{}` without asking", skill.id());
    }
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "{}", one_line(&format!("Approve `{}` as it is now? [y/N] ", skill.id())))?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().take(256).read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn approval_json(approval: &Approval) -> Value {
    json!({
        "skill": approval.skill,
        "place": approval.place,
        "digest": approval.digest,
        "approved": approval.approved,
        "permissions": approval.permissions.to_value(),
        "tiers": approval.tiers,
        "files": approval.files.len(),
    })
}
