//! Whether numpy's default integer, 32 bits wide in a cell and 64 elsewhere, may change what a skill gives, and where.

use serde::Serialize;

use super::facts::Facts;
use super::graph::Graph;
use super::report::Imported;
use skillcell_host::call::NoteKind;

/// Packages of the runtime that import numpy.
const LOADS_NUMPY: [&str; 12] = [
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "statsmodels",
    "matplotlib",
    "seaborn",
    "contourpy",
    "patsy",
    "formulaic",
    "narwhals",
    "networkx",
];
/// Places that are named at most.
const MOST: usize = 60;

/// What a skill that uses numpy should be looked at for.
#[derive(Debug, Clone, Serialize)]
pub struct IntegerWidth {
    /// The module that loads numpy, and where it is imported first.
    pub module: String,
    pub file: String,
    pub line: u32,
    /// Calls that give whole numbers of the default width. There may be others.
    pub places: Vec<DefaultInteger>,
}

/// A call whose result has the default integer.
#[derive(Debug, Clone, Serialize)]
pub struct DefaultInteger {
    pub file: String,
    pub line: u32,
    /// As numpy calls it.
    pub what: String,
}

/// `None` if nothing of the skill imports numpy, or its manifest acknowledges this.
pub fn integer_width(facts: &Facts, graph: &Graph<'_>, imports: &[Imported]) -> Option<IntegerWidth> {
    if facts.manifest().acknowledge.contains(&NoteKind::IntegerWidth) {
        return None;
    }
    let loads = |import: &&Imported| {
        let top = import.module.split('.').next().unwrap_or_default();
        import.when.is_some() && LOADS_NUMPY.contains(&top)
    };
    // networkx and narwhals import numpy only for some of what they do: they count where nothing else does.
    let rank = |import: &&Imported| LOADS_NUMPY.iter().position(|name| import.module.starts_with(name));
    let by = imports.iter().filter(loads).min_by_key(rank)?;
    let reached = |file: &String| graph.reached.contains_key(&(file.clone(), String::new()));
    let places = facts.files.iter().filter(|(file, _)| reached(file)).flat_map(|(file, facts)| {
        let place =
            |(line, what): &(u32, String)| DefaultInteger { file: file.clone(), line: *line, what: what.clone() };
        facts.integers.iter().map(place)
    });
    let places: Vec<DefaultInteger> = places.take(MOST).collect();
    let rarely = ["networkx", "narwhals"].contains(&&*by.module);
    (!rarely || !places.is_empty()).then(|| IntegerWidth {
        module: by.module.clone(),
        file: by.file.clone(),
        line: by.line,
        places,
    })
}
