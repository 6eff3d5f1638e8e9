//! Whether a skill runs in a cell, and why not.

use serde::Serialize;

use super::effects::{self, Effect};
use super::facts::Spot;
use super::graph::{Graph, When};
use super::modules::Module;
use super::needs::{Need, Raises, What};
use skillcell_quote::cut;

/// The longest name of a stranger in a reason, in characters.
const MAX_QUOTED: usize = 80;

/// Whether a skill runs in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Verdict {
    #[serde(rename = "runs")]
    Runs,
    #[serde(rename = "runs with grants")]
    RunsWithGrants,
    /// Some of what it does needs what a cell does not have.
    #[serde(rename = "partly")]
    Partly,
    /// Importing it, making it or every call of it does.
    #[serde(rename = "not in wasm")]
    NotInWasm,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Runs => "runs",
            Verdict::RunsWithGrants => "runs with grants",
            Verdict::Partly => "partly",
            Verdict::NotInWasm => "not in wasm",
        }
    }
}

/// The least tier that has what a skill needs, by what is known of tiers: nobody tried it. A container does for what a
/// subprocess does for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BestTier {
    Wasm,
    /// Native packages, over HTTP at most.
    Subprocess,
    /// Programs, native code of the skill's own: in an image that has them.
    Container,
    /// No isolated one: something is missing or wrong in the skill itself, or it needs what none of them lets it have.
    None,
}

impl BestTier {
    pub fn name(self) -> &'static str {
        match self {
            BestTier::Wasm => "wasm",
            BestTier::Subprocess => "subprocess",
            BestTier::Container => "container",
            BestTier::None => "none",
        }
    }
}

/// Something that speaks against a skill in a cell, or that one should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    pub file: String,
    pub line: u32,
    /// `None` if it is in a part of the skill that nothing calls.
    pub when: Option<When>,
    /// Whether the skill goes on without it.
    pub optional: bool,
    /// A sentence, without the place.
    pub text: String,
    #[serde(skip)]
    pub tier: BestTier,
}

impl Reason {
    pub fn place(&self) -> String {
        if self.line == 0 { self.file.clone() } else { format!("{}:{}", self.file, self.line) }
    }
}

/// What was decided.
pub struct Decision {
    pub verdict: Verdict,
    pub best_tier: BestTier,
    /// Why it is not `runs`, the deciding one first.
    pub reasons: Vec<Reason>,
    /// What it does without where it has to.
    pub optional: Vec<Reason>,
}

const MOST: usize = 60;
/// Clients of HTTP whose native code opens its own sockets, which lead nowhere outside of a cell either.
const OWN_SOCKETS: [&str; 3] = ["pycurl", "curl_cffi", "primp"];

pub fn decide(graph: &Graph<'_>, needs: &[Need], asks: bool) -> Decision {
    let blocked = graph.blocked_way();
    let (mut reasons, mut optional) = (Vec::new(), Vec::new());
    if let Some((when, at)) = blocked {
        let mut reason = reason(&needs[at], Some(when), false);
        if when == When::Call {
            let is_done = needs[at].by.is_empty() && !matches!(needs[at].what, What::Unreadable(_));
            let start = if is_done { "every call" } else { "in every call" };
            reason.text = format!("{start} {}", reason.text);
        }
        reasons.push(reason);
    }
    for need in needs.iter().filter(|need| !need.is_met() || need.is_excused()) {
        let node = (need.file.clone(), need.spot.function.clone());
        let Some(reach) = graph.reached.get(&node) else { continue };
        if graph.is_skipped(&need.file, &need.spot) {
            continue;
        }
        let extra = match &need.what {
            What::Module(module) => is_extra(graph, &need.file, &need.spot, module),
            _ => false,
        };
        let soft = need.is_excused()
            || reach.is_soft(need.raises)
            || extra
            || graph.survives(&need.file, &need.spot, need.raises);
        let found = reason(need, Some(reach.when), soft);
        let list = if soft { &mut optional } else { &mut reasons };
        let known = list.iter().any(|other: &Reason| other.file == found.file && other.line == found.line);
        if !known && list.len() < MOST {
            list.push(found);
        }
    }
    let verdict = match (blocked, reasons.is_empty(), asks) {
        (Some(_), _, _) => Verdict::NotInWasm,
        (None, false, _) => Verdict::Partly,
        (None, true, true) => Verdict::RunsWithGrants,
        (None, true, false) => Verdict::Runs,
    };
    let best_tier = best(verdict, &reasons);
    Decision { verdict, best_tier, reasons, optional }
}

/// What no tier mends only decides where nothing of the skill runs.
fn best(verdict: Verdict, reasons: &[Reason]) -> BestTier {
    if verdict == Verdict::NotInWasm && reasons.first().is_some_and(|reason| reason.tier == BestTier::None) {
        return BestTier::None;
    }
    let helping = reasons.iter().map(|reason| reason.tier).filter(|tier| *tier != BestTier::None);
    helping.max().unwrap_or(BestTier::Wasm)
}

/// A guarded import of a package that the manifest does not require, in a part that not every call gets to, whose
/// absence is reported as a result: an extra that the author offers.
pub fn is_extra(graph: &Graph<'_>, file: &str, spot: &Spot, module: &Module) -> bool {
    let listed = matches!(module, Module::Absent { required: false, .. });
    listed && !spot.function.is_empty() && graph.reports(file, spot, Raises::Import)
}

fn reason(need: &Need, when: Option<When>, optional: bool) -> Reason {
    Reason { file: need.file.clone(), line: need.spot.line, when, optional, text: text(need), tier: tier(need) }
}

fn text(need: &Need) -> String {
    let name = cut(&need.name, MAX_QUOTED);
    match &need.what {
        What::Module(module @ Module::NoName { .. }) => format!("uses `{name}`: {}", module.why()),
        What::Module(module) if !need.by.is_empty() => {
            format!("`{}` imports `{name}`: {}", cut(&need.by, MAX_QUOTED), module.why())
        }
        What::Module(module) => format!("imports `{name}`: {}", module.why()),
        What::Incomplete(chain) => {
            let lost = chain.last().map_or("", String::as_str);
            format!("`{name}` can be imported without `{lost}` ({}), but what needs that fails", chain.join(" → "))
        }
        What::Without(module) => format!("gives up without `{name}`: {}", module.why()),
        What::Bundled(file) => {
            let built =
                !file.ends_with(".pyx") && !file.ends_with(".c") && !file.ends_with(".cpp") && !file.ends_with(".rs");
            let kind = if built { "native code" } else { "source that has to be compiled to native code" };
            format!("imports `{name}` from `{}`, which is {kind}", cut(file, MAX_QUOTED))
        }
        What::Unreadable(why) => format!("this file can't be read by Python: {}", cut(why, MAX_QUOTED)),
        What::NotASkill(why) => format!("Skillware's loader does not take it: {}", cut(why, MAX_QUOTED)),
        What::OtherPlatform => format!("goes on only on another platform, or with another Python (`{name}`)"),
        What::Nowhere(file) => {
            format!("reads `{}` from the working folder, where a cell has nothing (`{name}`)", cut(file, MAX_QUOTED))
        }
        What::ReadOnly(place) => format!("writes into {place} (`{name}`), which is read-only in a cell"),
        What::TooEarly(effect) => {
            format!("{} when it is imported (`{name}`), and nothing is granted then", effect.words())
        }
        What::Effect(_) if !need.programs.is_empty() => {
            let programs: Vec<String> = need.programs.iter().map(|program| cut(program, MAX_QUOTED)).collect();
            format!("starts `{}`, and a cell has no programs (`{name}`)", programs.join("`, `"))
        }
        What::Effect(effect) => format!("{} (`{name}`)", effect.words()),
    }
}

fn tier(need: &Need) -> BestTier {
    match &need.what {
        What::Module(module) | What::Without(module) => match module {
            Module::NoFile | Module::Gone | Module::Uninstallable { .. } => BestTier::None,
            // No Python of today has it, unless it is one of those that differ from platform to platform.
            Module::NoName { package: None } if !is_of_platform(&need.name) => BestTier::None,
            // Every tier installs what the manifest requires, and nothing else.
            Module::Absent { required: false, .. } => BestTier::None,
            Module::Absent { .. } => beyond_code(&need.name),
            Module::Bundled => BestTier::Container,
            _ => BestTier::Subprocess,
        },
        What::Bundled(_) => BestTier::Container,
        // A skill's folder is read-only in every isolated tier, and the working folder is an empty one.
        What::Unreadable(_) | What::NotASkill(_) | What::ReadOnly(_) | What::Nowhere(_) => BestTier::None,
        What::OtherPlatform | What::TooEarly(_) | What::Incomplete(_) => BestTier::Subprocess,
        What::Effect(effect) => tier_of_effect(*effect),
    }
}

/// No isolated tier has another network than HTTP, or a device.
fn tier_of_effect(effect: Effect) -> BestTier {
    match effect {
        Effect::Socket | Effect::Server | Effect::Device => BestTier::None,
        Effect::Signal => BestTier::Subprocess,
        _ => BestTier::Container,
    }
}

/// Whether a name is of a module whose contents depend on the platform.
fn is_of_platform(name: &str) -> bool {
    const MODULES: [&str; 14] = [
        "os",
        "sys",
        "socket",
        "signal",
        "time",
        "select",
        "asyncio",
        "multiprocessing",
        "threading",
        "ssl",
        "mmap",
        "resource",
        "subprocess",
        "locale",
    ];
    MODULES.contains(&name.split('.').next().unwrap_or(name))
}

/// What a package that a cell does not have takes, which may in turn need a program, a device or a protocol.
fn beyond_code(module: &str) -> BestTier {
    let top = module.split('.').next().unwrap_or(module);
    let effect = effects::of(&format!("{top}.")).filter(|effect| effect.is_lacking());
    match effect {
        _ if OWN_SOCKETS.contains(&top) => BestTier::None,
        Some(effect) => tier_of_effect(effect),
        None => BestTier::Subprocess,
    }
}
