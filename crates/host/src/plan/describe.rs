//! A plan for people and for programs: `run --dry-run`, `--explain`, `inspect`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Decision, PassedOver, Plan, Preparation};
use skillcell_limits::RuntimeKind;
use skillcell_policy::{Denial, Grants, Missing, Tier};

/// A plan in the JSON contract: `plan` of `run --dry-run --json`.
#[derive(Serialize)]
pub struct PlanView<'a> {
    schema: u32,
    skill: &'a str,
    /// `planned` or `refused`.
    state: &'static str,
    tier: Tier,
    tier_reason: Option<&'a str>,
    /// Of the cell; none in another tier.
    runtime: Option<RuntimeKind>,
    runtime_reason: Option<&'a str>,
    passed_over: &'a [PassedOver],
    grants: Option<&'a Grants>,
    missing: &'a [Missing],
    unused: &'a [String],
    limits: BTreeMap<&'static str, u64>,
    prepare: Option<String>,
    denials: &'a [Denial],
}

impl<'a> PlanView<'a> {
    /// What was decided about a call of this skill.
    pub fn new(skill: &'a str, decided: &'a Decision) -> PlanView<'a> {
        match decided {
            Decision::Planned(plan) => PlanView {
                schema: 1,
                skill,
                state: "planned",
                tier: plan.tier,
                tier_reason: plan.reason.as_deref(),
                runtime: (plan.tier == Tier::Wasm).then_some(plan.runtime),
                runtime_reason: plan.runtime_reason.as_deref().filter(|_| plan.tier == Tier::Wasm),
                passed_over: &plan.passed_over,
                grants: Some(&plan.effective.grants),
                missing: &plan.effective.missing,
                unused: &plan.effective.unused,
                limits: plan.limits.amounts().into_iter().collect(),
                prepare: Some(plan.preparation.describe()),
                denials: &[],
            },
            Decision::Refused(refused) => PlanView {
                schema: 1,
                skill,
                state: "refused",
                tier: refused.tier,
                tier_reason: None,
                runtime: None,
                runtime_reason: None,
                passed_over: &[],
                grants: None,
                missing: &[],
                unused: &[],
                limits: BTreeMap::new(),
                prepare: None,
                denials: &refused.denials,
            },
        }
    }
}

impl Plan {
    /// Which tier it is, and why.
    pub fn describe_tier(&self) -> String {
        let why = self.reason.as_deref().unwrap_or(match self.tier {
            Tier::Wasm => "the strongest, and nothing speaks against it",
            _ => "it was named",
        });
        format!("{}: {why}", self.tier)
    }

    /// Which runtime the cell is of, and why.
    pub fn describe_runtime(&self) -> String {
        let why = self.runtime_reason.as_deref().unwrap_or("it has what the skill requires");
        format!("runtime {}: {why}", self.runtime)
    }

    /// A line for each thing that was decided.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = vec![format!("tier {}", self.describe_tier())];
        lines.extend(self.passed_over.iter().map(|passed| format!("not {}: {}", passed.tier, passed.why)));
        if self.tier == Tier::Wasm {
            lines.push(self.describe_runtime());
        }
        lines.push(self.preparation.describe());
        let may = self.effective.describe();
        if may.is_empty() {
            lines.push("it is granted nothing: no files, network, secrets or variables of this machine".to_owned());
        }
        lines.extend(may);
        lines.extend(self.effective.missing.iter().map(|missing| missing.message()));
        let unused = self.effective.unused.iter();
        lines.extend(unused.map(|text| format!("`{text}` does not hold: the skill does not ask for it")));
        let limits: Vec<String> = self.limits.amounts().iter().map(|(name, value)| format!("{name} {value}")).collect();
        lines.push(format!("limits: {}", limits.join(", ")));
        lines
    }
}

impl Preparation {
    /// In a sentence, for people.
    pub fn describe(&self) -> String {
        match self {
            Preparation::SkillImage => "it starts from its image, which is baked if it is not there".to_owned(),
            Preparation::ImportInCall => "it is imported in the call itself".to_owned(),
            Preparation::Environment { requirements } => {
                format!("it runs on an environment of {}", list_packages(requirements))
            }
            Preparation::ContainerImage { named: Some(image), .. } => format!("it runs on the image `{image}`"),
            Preparation::ContainerImage { requirements, .. } => {
                format!("it runs on an image of its own: its `Dockerfile`, or {}", list_packages(requirements))
            }
        }
    }
}

fn list_packages(requirements: &[String]) -> String {
    match requirements {
        [] => "no packages".to_owned(),
        some => some.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "),
    }
}
