//! A skill's packages: from the requirements in its manifest to files that its cells see.
//!
//! ```text
//!   requirements ──▶ resolution ──▶ Packages (what became of each) ─┬▶ site: one pack of wheels and stand-ins ──▶ mount
//!                    │   └─ resolve: pip, one level at a time       └▶ venv: the folder of packages of another tier
//!                    └───── skillcell.lock, or what was resolved before
//! ```
//!
//! All of it is for a target: the guest, or the Python of another tier. In a cell, what the runtime has and what the
//! framework pins counts as installed. The rest has to be a pure Python wheel, or a stand-in of ours. A
//! requirement that can't be met is recorded and not fatal, since many skills import a package only for some of their
//! functions; when an import then fails, [`Packages::explain`] says why.
//!
//! Nothing of a package runs on the host, and nothing is installed there.

mod absence;
mod contents;
mod demand;
mod import_names;
mod index;
mod installed;
mod lock;
mod marker;
mod metadata;
mod missing;
mod modules;
mod pack_tree;
pub mod provision;
mod requirement;
mod resolution;
mod resolve;
mod site;
#[deny(missing_docs)]
pub mod skill;
mod specifier;
mod standins;
mod target;
pub mod venv;
mod wheel_rules;

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::contents::site_path;
pub use self::import_names::package_of;
pub use self::lock::wheel_pin;
pub use self::lock::{LOCK_FILE, LockError, SkillLock};
pub use self::pack_tree::pack_tree;
pub use self::requirement::{Requirement, clean_requirements};
pub use self::resolution::{Resolution, Resolved, Wanted, resolution_basis};
pub use self::site::{SITE_FOLDER, SitePackages, SitePackagesStore};
pub use self::target::ENVIRONMENT;
pub use self::target::{ABOUT_PYTHON, MarkerValues, OLD_NAMES, Target};
use skillcell_cache as cache;

/// The most requirements of a skill.
const MAX_REQUIREMENTS: usize = 200;

/// What a skill's requirements resolve to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packages {
    /// As the manifest states them.
    pub requirements: Vec<String>,
    /// Everything that they need, by name: themselves, and what they pull in.
    pub packages: Vec<Package>,
    /// Which wheels were given, besides the index; a digest. With others, what is missing may be there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sources: String,
    /// Requirements that are not taken, with the reason: addresses, paths, options of pip, things that are no requirement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<(String, String)>,
    /// Requirements whose marker does not hold in a cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_needed: Vec<String>,
}

/// A distribution that a skill needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Normalized: lower case, words joined by `-`.
    pub name: String,
    /// The versions that everything which needs it accepts; empty for any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub wanted: String,
    /// From the skill's own requirement to this: `["fastembed", "onnxruntime"]`.
    pub chain: Vec<String>,
    /// What can be imported, top-level names. For a package that is not there it is a guess.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// Whether only an extra that the skill asks for needs it, as in `pyjwt[crypto]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_extra: bool,
    #[serde(flatten)]
    pub standing: PackageStatus,
}

/// The resolution status of a distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PackageStatus {
    /// It comes with the runtime.
    Runtime { version: String },
    /// It comes with the framework.
    Framework { version: String },
    /// A pure Python wheel, pinned.
    Wheel { version: String, file: String, sha256: String },
    /// A stand-in of ours for native code.
    StandIn { version: String, limits: Vec<String> },
    /// The runtime or the framework has it, in a version that some requirement does not accept. It is used anyway.
    OtherVersion { version: String },
    /// Only wheels with native code, for other platforms: these tags, of this version.
    Native { version: String, tags: Vec<String> },
    /// Only sources, which would have to be built.
    Source { version: String },
    /// No version is accepted; these exist.
    NoVersion { versions: Vec<String> },
    /// No index knows it.
    NotFound,
    /// No index could be reached.
    Unresolved { why: String },
    /// The wheel was rejected.
    Refused { why: String },
}

impl PackageStatus {
    /// Whether a cell has it.
    pub fn is_there(&self) -> bool {
        use PackageStatus::{Framework, OtherVersion, Runtime, StandIn, Wheel};
        matches!(self, Runtime { .. } | Framework { .. } | Wheel { .. } | StandIn { .. } | OtherVersion { .. })
    }

    /// The version that a cell has.
    pub fn version(&self) -> Option<&str> {
        use PackageStatus::{Framework, OtherVersion, Runtime, StandIn, Wheel};
        match self {
            Runtime { version }
            | Framework { version }
            | Wheel { version, .. }
            | StandIn { version, .. }
            | OtherVersion { version } => Some(version),
            _ => None,
        }
    }
}

impl Packages {
    /// What the skill's own requirements are, in the manifest's order, then what they pull in.
    pub fn direct(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.chain.len() == 1)
    }

    /// What a cell does not have.
    pub fn missing(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| !package.standing.is_there())
    }

    /// Whether a package is unresolved because this host is offline.
    pub fn was_offline(&self) -> bool {
        let offline =
            |standing: &PackageStatus| matches!(standing, PackageStatus::Unresolved { why } if why == index::OFFLINE);
        self.packages.iter().any(|package| offline(&package.standing))
    }

    /// Whether this resolution can be reused with these wheel sources. Without any, a complete one can, wherever its wheels
    /// came from.
    pub fn holds_with(&self, sources: &str) -> bool {
        self.sources == sources || (sources.is_empty() && self.missing().next().is_none())
    }

    /// Whether there is only a stand-in for something, or nothing, since it is native code.
    pub fn lacks_native(&self) -> bool {
        use PackageStatus::{Native, StandIn};
        self.packages.iter().any(|package| matches!(package.standing, StandIn { .. } | Native { .. }))
    }

    /// Packages whose wheel is for an older platform than the second runtime's, with the reason why it is taken.
    pub fn older_wheels(&self) -> impl Iterator<Item = (&Package, &str)> {
        self.packages.iter().filter_map(|package| match &package.standing {
            PackageStatus::Wheel { file, .. } => {
                wheel_rules::wheel_rules().why_older(&package.name, file).map(|why| (package, why))
            }
            _ => None,
        })
    }

    /// Packages with a wheel that has native code in it.
    pub fn native_wheels(&self) -> impl Iterator<Item = &Package> {
        let is_native = |standing: &PackageStatus| matches!(standing, PackageStatus::Wheel { file, .. } if !file.ends_with(wheel_rules::PURE));
        self.packages.iter().filter(move |package| is_native(&package.standing))
    }

    /// Whether what is native in them is of the curated wheels, which are linked and compiled together, once for all.
    pub fn are_curated(&self) -> bool {
        let is_curated = |standing: &PackageStatus| {
            let PackageStatus::Wheel { sha256, .. } = standing else { return false };
            wheel_rules::wheel_rules().curated.iter().any(|pin| pin.sha256 == *sha256)
        };
        self.native_wheels().next().is_some() && self.native_wheels().all(|package| is_curated(&package.standing))
    }

    /// Whether every package was resolved. If not, resolving again may succeed.
    pub fn is_complete(&self) -> bool {
        !self.packages.iter().any(|package| matches!(package.standing, PackageStatus::Unresolved { .. }))
    }
}

/// Why a skill's packages could not be processed. A package that is unavailable is recorded, and is not an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Cache(#[from] cache::Error),
    #[error(transparent)]
    Provision(#[from] provision::Error),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error("the runtime's list of packages can't be read: {0}")]
    Runtime(String),
    #[error("can't use the folder `{}`", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("the packages of the skill can't be used: {0}")]
    TooMuch(String),
    #[error("the packages of the skill can't be packed")]
    Packing(#[from] io::Error),
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Cache(error) => error.hint(),
            Error::Provision(error) => error.hint(),
            Error::Lock(error) => error.hint(),
            _ => None,
        }
    }
}
