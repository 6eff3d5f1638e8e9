//! The same calls in every tier that this machine has, interleaved in one run: what each costs to get ready, to start
//! and per call, and that all of them give the same result.

pub mod chart;
mod measure;

use std::path::PathBuf;

use serde_json::{Value, json};

pub use self::measure::run_comparison;
use crate::bench::Series;
use skillcell_host::HostError;
pub use skillcell_host::{Download, Footprint};
use skillcell_policy::Tier;

/// How much to measure.
///
/// Defaults: every tier that isolates, 100 calls in a cell and 20 in each other tier, no cold starts.
#[derive(Debug, Clone)]
pub struct Plan {
    pub tiers: Vec<Tier>,
    /// Calls in a cell; more than elsewhere, since they are much shorter.
    pub cell_calls: usize,
    /// Calls in each other tier.
    pub calls: usize,
    /// The program that each cold start runs, with its arguments up to the tier's name.
    pub cold: Option<(PathBuf, Vec<String>)>,
}

impl Default for Plan {
    fn default() -> Plan {
        let tiers = Tier::ALL.into_iter().filter(|tier| tier.is_isolated()).collect();
        Plan { tiers, cell_calls: 100, calls: 20, cold: None }
    }
}

/// What was measured of one skill.
#[derive(Debug)]
pub struct Comparison {
    pub skill: String,
    pub tiers: Vec<Figures>,
    /// Whether every call in every tier that could make it gave the same result.
    pub equal: bool,
}

/// What was measured of one tier.
#[derive(Debug)]
pub struct Figures {
    pub tier: Tier,
    /// The first call, with all that had to be got ready for it and was not there yet.
    pub first_ms: f64,
    /// Starting the program, one call, and its end.
    pub cold: Series,
    /// A call in a program that has made one before.
    pub warm: Series,
    /// The most memory of a call: a cell's own, or what its process reported.
    pub memory_bytes: Option<u64>,
    pub footprint: Footprint,
    pub result: Value,
    /// Whether every call gave this result.
    pub steady: bool,
}

/// A tier that has no figures, and why.
#[derive(Debug)]
pub struct Missing {
    pub tier: Tier,
    pub why: String,
    /// Whether the skill ran there, and did not return as it does elsewhere. Otherwise it could not be run.
    pub failed: bool,
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("the skill returned in no tier, so there is nothing to compare: {0}")]
    Nothing(String),
    #[error("a process of the comparison failed")]
    Io(#[from] std::io::Error),
}

impl Comparison {
    /// Version 1 of the JSON.
    pub fn to_json(&self, missing: &[Missing]) -> Value {
        json!({
            "schema": 1,
            "skill": self.skill,
            "equal": self.equal,
            "tiers": self.tiers.iter().map(Figures::to_json).collect::<Vec<_>>(),
            "missing": missing.iter().map(|it| json!({"tier": it.tier, "why": it.why, "failed": it.failed})).collect::<Vec<_>>(),
        })
    }

    /// The warm calls of each tier as a group of bars.
    pub fn chart_group(&self) -> chart::Group {
        let bar = |figures: &Figures| chart::Bar {
            label: figures.tier.to_string(),
            kind: figures.tier as usize,
            p50_ms: figures.warm.percentile_ms(50).unwrap_or_default(),
            p99_ms: figures.warm.percentile_ms(99).unwrap_or_default(),
        };
        chart::Group { title: self.skill.clone(), bars: self.tiers.iter().map(bar).collect() }
    }
}

impl Figures {
    fn to_json(&self) -> Value {
        json!({
            "tier": self.tier,
            "first_ms": self.first_ms.round(),
            "cold": self.cold.to_json(),
            "warm": self.warm.to_json(),
            "memory_bytes": self.memory_bytes,
            "disk": {"own_bytes": self.footprint.own_bytes, "shared_bytes": self.footprint.shared_bytes},
            "downloads": self.footprint.downloads,
            "steady": self.steady,
        })
    }
}
