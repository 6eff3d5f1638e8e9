//! What a skill asks for, what it is granted, and what therefore holds.

use serde_json::{Value, json};

use crate::cli::grants::Layers;
use crate::cli::printer::{Printer, harmless};
use skillcell_door::audit::when::date;
use skillcell_host::approvals::{Approvals, Difference, Standing};
use skillcell_packages::skill::Skill;
use skillcell_policy::manifest::{BadManifest, Manifest};
use skillcell_policy::{Effective, Grants, Missing, Permissions};

pub struct Standings {
    asked: Option<Permissions>,
    /// Why what it asks for can't be read.
    error: Option<String>,
    standing: Standing,
    difference: Option<Difference>,
    approval: Grants,
    layers: Layers,
    effective: Effective,
    /// The command that approves it.
    approve: Option<String>,
}

impl Standings {
    /// As `run` with the same flags would find it.
    pub fn of(
        skill: &Skill,
        manifest: &Result<Manifest, BadManifest>,
        approvals: Option<&Approvals>,
        layers: Layers,
    ) -> anyhow::Result<Standings> {
        let (asked, error) = match manifest {
            Ok(manifest) => (manifest.permissions.clone(), None),
            Err(bad) if bad.key == "permissions" => (None, Some(bad.why.clone())),
            Err(bad) => (None, Some(bad.to_string())),
        };
        let standing = approvals.map_or(Ok(Standing::Unknown), |approvals| approvals.standing(skill))?;
        let (mut approval, mut difference) = (Grants::default(), None);
        match &standing {
            Standing::Approved(record) => approval = Grants::of_approval(&record.permissions),
            Standing::Changed(record) => {
                difference =
                    Some(Difference::between(record, skill, asked.as_ref().unwrap_or(&Permissions::default())));
            }
            Standing::Unknown => {}
        }
        let granted = approval.clone().overruled_by(layers.policy.clone().merged_with(layers.flags.clone()));
        let approve = approvals.map(|approvals| approvals.command(skill));
        let effective = match error {
            Some(_) => Effective::default(),
            None => Effective::of(skill.id(), asked.as_ref(), &granted).approved_by(approve.as_deref()),
        };
        Ok(Standings { asked, error, standing, difference, approval, layers, effective, approve })
    }

    fn is_refused(&self) -> bool {
        self.error.is_some() || self.difference.is_some() || self.effective.missing.iter().any(Missing::is_whole)
    }

    pub fn to_value(&self) -> Value {
        let (state, approved) = match &self.standing {
            Standing::Unknown => ("unknown", None),
            Standing::Approved(approval) => ("approved", Some(approval.approved)),
            Standing::Changed(approval) => ("changed", Some(approval.approved)),
        };
        json!({
            "asked": self.asked.as_ref().map(Permissions::to_value),
            "error": self.error,
            "approval": {
                "state": state,
                "approved": approved,
                "difference": self.difference.as_ref().map(Difference::to_value),
            },
            "granted": {"approval": self.approval, "policy": self.layers.policy, "flags": self.layers.flags},
            "effective": self.effective.grants,
            "missing": self.effective.missing,
            "unused": self.effective.unused,
            "refused": self.is_refused(),
        })
    }

    pub fn print(&self, printer: &Printer) {
        let row = |name: &str, text: &str| printer.row(name, &harmless(text));
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
            (Standing::Approved(approval), _) => format!("in this state, on {}", date(approval.approved)),
            (_, Some(difference)) => format!("in another state: {}", difference.message()),
            _ => "no".to_owned(),
        };
        row("approved", &approved);
        let layers =
            [("approval", &self.approval), ("policy file", &self.layers.policy), ("flags", &self.layers.flags)];
        let granted = layers.into_iter().flat_map(|(name, grants)| {
            grants.entries().into_iter().map(move |(kind, text)| format!("{name}: {} {text}", kind.key()))
        });
        rows("granted", "nothing", granted.collect());
        rows("effective", "nothing", self.effective.describe());
        if !self.effective.missing.is_empty() {
            rows("missing", "", self.effective.missing.iter().map(Missing::message).collect());
        }
        if !self.effective.unused.is_empty() {
            let unused = self.effective.unused.iter().map(|text| format!("`{text}` is granted, but not asked for"));
            rows("unused", "", unused.collect());
        }
        if let Some(error) = &self.error {
            printer.warning(&format!("its permissions can't be read: {error}"));
        }
        if self.is_refused() {
            printer.warning("`skillcell run` with these flags would refuse it");
            if self.difference.is_some() {
                self.approve.iter().for_each(|command| printer.hint(&format!("`{command}` approves it as it is now")));
                return;
            }
            let missing = self.effective.missing.iter().filter(|missing| missing.is_whole());
            missing.for_each(|missing| printer.hint(&missing.hint()));
        }
    }
}
