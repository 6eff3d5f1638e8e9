//! Makes `runtime-assets/used-functions.txt`: `cargo run --release -p skillcell -p skillcell-cell --example used_functions -- [FOLDER]…`
//!
//! In a cache of its own each function of the runtime is compiled when it is first called, and its place noted: by the boot, by the framework, by the
//! bake of each skill of the registry, which imports it and calls it with examples, and by each given folder's skill, with
//! each of its kernels if it is `skills-compat/demo/kernels`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use skillcell_cache::Cache;
use skillcell_cache::progress::Silent;
use skillcell_cell::image::{Baker, WarmUp};
use skillcell_cell::runtime::files::CommonFiles;
use skillcell_cell::runtime::{Runtime, pinned_runtime};
use skillcell_cell::{Machines, NOTED, RuntimeKind};
use skillcell_limits::Limits;
use skillcell_packages::provision::{self, Fetch};
use skillcell_packages::skill::{Skill, registry_ids};

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runtime-assets/used-functions.txt");
const KERNELS: [&str; 12] = [
    "loops",
    "calls",
    "objects",
    "strings",
    "json",
    "re",
    "sha256",
    "sort",
    "dict",
    "float",
    "exceptions",
    "generators",
];
const WIDTH: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let noted = NOTED.get_or_init(Default::default);
    let folder = tempfile::tempdir()?;
    let (cache, fetch) = (Cache::at(&folder.path().join("cache"))?, Fetch::default());
    let (kind, sides) = (RuntimeKind::default(), Default::default());
    let runtime = Runtime { kind, sides, cache: &cache, fetch: &fetch, progress: &Silent };
    let machines = Machines::default();
    let machine = machines.get(&runtime, false)?;
    provision::stdlib_bytes(&cache, &fetch, &Silent)?;
    let (library, plots) = (cache.clone(), cache.clone());
    let library = move || {
        let found = provision::open_stdlib(&library, &Silent).map_err(std::io::Error::other)?;
        found.ok_or_else(|| std::io::ErrorKind::NotFound.into())
    };
    let plots = move || provision::open_matplotlib_data(&plots, &Silent).map_err(std::io::Error::other);
    let files = CommonFiles::open(&runtime, Box::new(library), Box::new(plots))?;
    let baker = Baker { runtime, machine, machines: &machines, files: &files };
    let registry = provision::registry_pack(&cache, &fetch, &Silent)?;
    let mut skills: Vec<(Skill, Value)> = Vec::new();
    for id in registry_ids(&registry) {
        skills.push((Skill::from_registry(&registry, &id)?, Value::Null));
    }
    for given in std::env::args().skip(1) {
        let skill = Skill::from_any_folder(Path::new(&given))?;
        match given.trim_end_matches('/').ends_with("kernels") {
            true => skills.extend(KERNELS.map(|kernel| (skill.clone(), json!({"kernel": kernel})))),
            false => skills.push((skill, Value::Null)),
        }
    }
    for (skill, params) in skills {
        let mut limits = Limits::default();
        limits.deadline = Duration::from_secs(600);
        let warm_up = if params.is_null() { WarmUp::Manifest } else { WarmUp::Params(params) };
        let baked = baker.rebake(&skill, &warm_up, &limits, |_| Vec::new());
        let count = noted.lock().map_or(0, |noted| noted.len());
        println!("{count:6} after {} {}", skill.id(), baked.err().map(|error| error.to_string()).unwrap_or_default());
        // As far as it got, should it be ended.
        std::fs::write(LIST, list(&noted.lock().expect("nobody panicked")))?;
    }
    Ok(())
}

fn list(noted: &BTreeSet<u32>) -> String {
    let wheel = &pinned_runtime().wheel;
    let mut text = format!(
        "# Functions of {} {} that calls use, by their place in its code section: crates/cell/examples/used_functions.rs.\n# {}\n",
        wheel.name, wheel.version, wheel.sha256
    );
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &place in noted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == place => *last = place,
            _ => ranges.push((place, place)),
        }
    }
    let mut width = 0;
    for (first, last) in ranges {
        let word = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let separator = if width == 0 {
            ""
        } else if width + word.len() < WIDTH {
            " "
        } else {
            "\n"
        };
        width = if separator == "\n" { word.len() } else { width + separator.len() + word.len() };
        let _ = write!(text, "{separator}{word}");
    }
    text + "\n"
}
