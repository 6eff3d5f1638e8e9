//! The study of a registry: every skill analysed, its own tests run in cells, natively and in Pyodide, recorded calls made again, and
//! calls measured. What comes of it is a [`Matrix`], written as JSON, Markdown and one HTML page.
//!
//! It decides nothing: the verdict comes from the analysis; tests, calls and figures are evidence beside it.
//!
//! ```text
//!   discover ──▶ each skill, in parallel: analysis, packages, tests in cells │ natively │ in Pyodide, recorded calls
//!                each skill, one after the other: image, latency            ──▶ Matrix ──▶ expect, page, markdown
//! ```

mod alike;
mod answer_servers;
mod cases;
mod cells;
mod confine;
mod discover;
mod expect;
mod latency;
mod layout;
mod markdown;
mod model;
mod native;
mod outcomes;
mod packages;
mod page;
mod parity;
mod pyodide;
mod recorded_calls;
mod row;
mod script_cases;
mod script_model;
mod script_tables;
mod scripts;
mod summary;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use self::cases::{Cases, Ending};
pub use self::discover::Source;
pub use self::discover::matches_glob;
pub use self::expect::Expectations;
pub use self::markdown::{fill_in, render_document};
pub use self::model::*;
pub use self::page::render_page;
pub use self::recorded_calls::{FLOOR_MS, RecordedCall, SkillCalls, measure_recorded_calls, median_times};
use self::row::StudyResources;
use skillcell_cache::progress::Progress;
use skillcell_host::{Host, HostError};
use skillcell_packages::provision;

/// What to study, and how much of it.
///
/// Defaults: the pinned registry, all of its skills, native runs, no runs in Pyodide, latency, scripts in cells only, the cases that come with this
/// program, as many skills at once as there are cores.
#[derive(Debug, Clone)]
pub struct Study {
    pub source: Source,
    /// Patterns of ids; none for all.
    pub skills: Vec<String>,
    /// Run the tests natively, and measure Python processes. This executes the skills' code and their packages' on this
    /// machine, outside of any cell.
    pub native: NativeRuns,
    /// Run the tests in Pyodide on Node.js too, which is outside of any cell as well.
    pub pyodide: NativeRuns,
    pub latency: bool,
    /// Make each run of a script in the tier `subprocess` too, and compare: a sandbox of this machine's kernel, and no cell.
    pub subprocess: bool,
    pub cases: Cases,
    pub jobs: usize,
}

/// Whether skills' code may run outside of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NativeRuns {
    Allowed,
    /// They are skipped, for this reason, which the columns show.
    Skipped(String),
}

impl Default for Study {
    fn default() -> Study {
        Study {
            source: Source::Pinned,
            skills: Vec::new(),
            native: NativeRuns::Allowed,
            pyodide: NativeRuns::Skipped("not run: it takes --pyodide".to_owned()),
            latency: true,
            subprocess: false,
            cases: Cases::pinned(),
            jobs: std::thread::available_parallelism().map_or(2, usize::from),
        }
    }
}

/// Why there is no matrix. What is wrong with one skill is in its row.
#[derive(Debug, thiserror::Error)]
pub enum MatrixError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("the folder `{}` can't be read", .path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("there is no Python to compare with: {0}")]
    Native(String),
    #[error("there is no skill in {}{}", describe_source(.registry), describe_filter(.globs))]
    NoSkills { registry: Source, globs: Vec<String> },
}

fn describe_source(source: &Source) -> String {
    match source {
        Source::Pinned => "the pinned registry".to_owned(),
        Source::Folder(path) => format!("`{}`: no folder below it has a `skill.py` or a `SKILL.md`", path.display()),
    }
}

fn describe_filter(globs: &[String]) -> String {
    if globs.is_empty() { String::new() } else { format!(" whose id matches `{}`", globs.join("`, `")) }
}

/// Studies the skills in parallel, then measures their calls one after the other.
pub fn run_study(host: &Host, study: &Study, progress: &dyn Progress) -> Result<Matrix, MatrixError> {
    host.install()?;
    let found = discover::discover_skills(host, &study.source, &study.skills)?;
    let resources = StudyResources::prepare(host, study, &found, progress);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let rows = Mutex::new(Vec::new());
    // Each worker takes the next skill from the counter until there are none.
    std::thread::scope(|scope| {
        for _ in 0..study.jobs.clamp(1, found.len()) {
            scope.spawn(|| {
                while let Some((id, skill)) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (row, figures) = resources.study_skill(id, skill);
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    progress.step(&format!("{done}/{} {}", found.len(), row::progress_line(&row)));
                    rows.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((row, figures));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Workers finish in any order; the matrix must not depend on it.
    rows.sort_by(|one, other| one.0.id.cmp(&other.0.id));
    let mut matrix = resources.empty_matrix(&study.source);
    for (row, figures) in rows {
        matrix.figures.skills.insert(row.id.clone(), figures);
        matrix.skills.push(row);
    }
    if study.latency {
        resources.measure_calls(&found, &mut matrix, progress);
    }
    matrix.count_totals();
    Ok(matrix)
}

/// The pinned runtime's name and version, for people.
fn runtime_in_words() -> String {
    let pin = &provision::runtime_pin().wheel;
    format!("CPython 3.15 for WASI ({} {}) in skillcell {}", pin.name, pin.version, env!("CARGO_PKG_VERSION"))
}
