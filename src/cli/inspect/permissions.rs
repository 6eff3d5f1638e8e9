//! What a skill asks for, what it is granted, and what therefore holds.

use serde_json::{Value, json};

use crate::cli::printer::{Printer, escape_unprintable};
use crate::settings::Settings;
use skillcell_door::audit::when::date;
use skillcell_host::Host;
use skillcell_host::approvals::{ApprovalState, Difference};
use skillcell_host::call::Call;
use skillcell_host::plan::Decision;
use skillcell_packages::skill::Skill;
use skillcell_policy::manifest::{BadManifest, Manifest};
use skillcell_policy::{Grants, Missing, Permissions};

pub struct ApprovalStates {
    asked: Option<Permissions>,
    /// Why what it asks for can't be read.
    error: Option<String>,
    standing: ApprovalState,
    difference: Option<Difference>,
    /// Grants by source: the approval, the policy file, the flags.
    approval: Grants,
    policy: Grants,
    flags: Grants,
    /// What `run` with the same flags would do.
    pub decision: Decision,
}

impl ApprovalStates {
    /// As `run` with the same flags would find it.
    pub fn collect_for(
        host: &Host,
        settings: &Settings,
        skill: &Skill,
        manifest: &Result<Manifest, BadManifest>,
        call: &Call,
    ) -> anyhow::Result<ApprovalStates> {
        let (asked, error) = match manifest {
            Ok(manifest) => (manifest.permissions.clone(), None),
            Err(bad) if bad.key == "permissions" => (None, Some(bad.why.clone())),
            Err(bad) => (None, Some(bad.to_string())),
        };
        let standing = host.approval_standing(skill)?;
        let (mut approval, mut difference) = (Grants::default(), None);
        match &standing {
            ApprovalState::Approved(record) => approval = Grants::of_approval(&record.permissions),
            ApprovalState::Changed(record) => {
                difference =
                    Some(Difference::between(record, skill, asked.as_ref().unwrap_or(&Permissions::default())));
            }
            ApprovalState::Unknown => {}
        }
        let (policy, flags) = (settings.policy.grants_for(skill.id()), settings.grants.clone());
        let decision = host.plan(skill, call)?;
        Ok(ApprovalStates { asked, error, standing, difference, approval, policy, flags, decision })
    }

    pub fn to_value(&self) -> Value {
        let (state, approved) = match &self.standing {
            ApprovalState::Unknown => ("unknown", None),
            ApprovalState::Approved(approval) => ("approved", Some(approval.approved)),
            ApprovalState::Changed(approval) => ("changed", Some(approval.approved)),
        };
        json!({
            "asked": self.asked.as_ref().map(Permissions::to_value),
            "error": self.error,
            "approval": {
                "state": state,
                "approved": approved,
                "difference": self.difference.as_ref().map(Difference::to_value),
            },
            "granted": {"approval": self.approval, "policy": self.policy, "flags": self.flags},
            "effective": self.decision.effective().grants,
            "missing": self.decision.effective().missing,
            "unused": self.decision.effective().unused,
            "refused": matches!(self.decision, Decision::Refused(_)),
        })
    }

    pub fn print_all(&self, printer: &Printer) {
        let row = |name: &str, text: &str| printer.print_row(name, &escape_unprintable(text));
        let rows = |name: &str, none: &str, lines: Vec<String>| match &lines[..] {
            [] => row(name, none),
            [first, rest @ ..] => {
                row(name, first);
                rest.iter().for_each(|line| row("", line));
            }
        };
        match &self.asked {
            Some(asked) => rows("asks to", "nothing", asked.describe()),
            None => row("asks to", "nothing in particular: what you grant holds as given"),
        }
        let approved = match (&self.standing, &self.difference) {
            (ApprovalState::Approved(approval), _) => format!("in this state, on {}", date(approval.approved)),
            (_, Some(difference)) => format!("in another state: {}", difference.summarize()),
            _ => "no".to_owned(),
        };
        row("approved", &approved);
        let layers = [("approval", &self.approval), ("policy file", &self.policy), ("flags", &self.flags)];
        let granted = layers.into_iter().flat_map(|(name, grants)| {
            grants.entries().into_iter().map(move |(kind, text)| format!("{name}: {} {text}", kind.key()))
        });
        rows("granted", "nothing", granted.collect());
        let effective = self.decision.effective();
        rows("effective", "nothing", effective.describe());
        if !effective.missing.is_empty() {
            rows("missing", "", effective.missing.iter().map(Missing::message).collect());
        }
        if !effective.unused.is_empty() {
            let unused = effective.unused.iter().map(|text| format!("`{text}` is granted, but not asked for"));
            rows("unused", "", unused.collect());
        }
        if let Some(error) = &self.error {
            printer.print_warning(&format!("its permissions can't be read: {error}"));
        }
        match &self.decision {
            Decision::Planned(plan) => row("runs in", &plan.describe_tier()),
            Decision::Refused(refused) => {
                printer.print_warning("a call with these flags would be refused");
                for denial in &refused.denials {
                    // Already printed under `missing`.
                    if !effective.missing.iter().any(|missing| missing.message() == denial.message) {
                        printer.print_warning(&denial.message);
                    }
                    denial.hint.iter().for_each(|hint| printer.print_hint(hint));
                }
            }
        }
    }
}
