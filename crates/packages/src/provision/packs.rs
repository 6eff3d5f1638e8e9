//! The packs made of the framework's wheels: what the guest imports, and the registry of skills.

use serde_json::{Value, json};

use super::{Error, Fetch, Pin, Result, Wheel, fetch_wheels, pins};
use skillcell_cache::progress::Progress;
use skillcell_cache::{Bucket, Cache, Pack};

/// The version of the rules below: another one makes packs with other content, hence other names.
const RULES: u32 = 1;
/// What is kept of a `.dist-info` folder: enough for `importlib.metadata`.
const DIST_INFO: [&str; 4] = ["METADATA", "RECORD", "WHEEL", "top_level.txt"];
/// The folder of the skillware wheel that holds the skills.
const SKILLS: &str = "skills/";
/// The wheel with the registry.
const FRAMEWORK: &str = "skillware";

/// The framework in the guest, unpacked as a site-packages folder.
pub fn framework_pack(cache: &Cache, fetch: &Fetch, progress: &dyn Progress) -> Result<Pack> {
    let wheels: Vec<&Pin> = pins().packages().iter().collect();
    make_pack(cache, "packages", &wheels, fetch, progress, |path| in_site_packages(path).then(|| path.to_owned()))
}

/// What tests are run with, unpacked likewise.
pub fn test_packages(cache: &Cache, fetch: &Fetch, progress: &dyn Progress) -> Result<Pack> {
    let wheels: Vec<&Pin> = pins().test_packages().iter().collect();
    make_pack(cache, "test packages", &wheels, fetch, progress, |path| in_site_packages(path).then(|| path.to_owned()))
}

/// Whether that is in the cache.
pub fn has_test_packages(cache: &Cache) -> bool {
    let wheels: Vec<&Pin> = pins().test_packages().iter().collect();
    matches!(cache.bytes(Bucket::Pack, &pack_name("test packages", &wheels)), Ok(Some(_)))
}

/// What Pyodide is given besides, unpacked likewise, without what is compiled in it: it would be for another machine.
pub fn pyodide_framework(cache: &Cache, fetch: &Fetch, progress: &dyn Progress) -> Result<Pack> {
    let wheels: Vec<&Pin> = pins().pyodide_packages().iter().collect();
    let place = |path: &str| (in_site_packages(path) && !path.ends_with(".so")).then(|| path.to_owned());
    make_pack(cache, "pyodide packages", &wheels, fetch, progress, place)
}

/// The registry: every file below `skills/`, with paths from there on.
pub fn registry_pack(cache: &Cache, fetch: &Fetch, progress: &dyn Progress) -> Result<Pack> {
    let wheel = pins().package(FRAMEWORK).expect("tested: the framework is pinned");
    make_pack(cache, "registry", &[wheel], fetch, progress, |path| path.strip_prefix(SKILLS).map(str::to_owned))
}

fn make_pack(
    cache: &Cache,
    kind: &str,
    wheels: &[&Pin],
    how: &Fetch,
    progress: &dyn Progress,
    place: impl Fn(&str) -> Option<String>,
) -> Result<Pack> {
    let purpose = format!("preparing the {kind}");
    let artefact = cache.make(Bucket::Pack, &pack_name(kind, wheels), &purpose, progress, |writer| {
        let scratch = cache.scratch()?;
        let fetched = fetch_wheels(wheels, how, scratch.path(), progress)?;
        progress.step(&purpose);
        let mut opened = fetched.into_iter().map(Wheel::open).collect::<Result<Vec<_>>>()?;
        let files = opened.iter_mut().flat_map(|wheel| placed_files(wheel, &place));
        let count = Pack::build::<Error>(writer, files)?;
        Ok::<Value, Error>(describe_pack(kind, wheels, count))
    })?;
    Ok(Pack::open(artefact)?)
}

/// The files of a wheel that have a place in the pack.
fn placed_files(
    wheel: &mut Wheel,
    place: &impl Fn(&str) -> Option<String>,
) -> impl Iterator<Item = Result<(String, Vec<u8>)>> {
    let members = wheel.members().to_vec();
    let placed = members.into_iter().filter_map(move |member| place(&member.path).map(|path| (path, member)));
    placed.map(move |(path, member)| Ok((path, wheel.read(&member)?)))
}

fn in_site_packages(path: &str) -> bool {
    let (top, rest) = path.split_once('/').unwrap_or((path, ""));
    if top.ends_with(".dist-info") {
        return DIST_INFO.contains(&rest);
    }
    let tests = path.split('/').any(|part| part == "tests");
    !path.starts_with(SKILLS) && !top.ends_with(".data") && !tests
}

/// The pack's name: what it is, and a digest of all that decides its content.
fn pack_name(kind: &str, wheels: &[&Pin]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{RULES}\n").as_bytes());
    for pin in wheels {
        hasher.update(format!("{}\n", pin.sha256).as_bytes());
    }
    format!("{}-{}", kind.replace(' ', "-"), &hasher.finalize().to_hex()[..16])
}

fn describe_pack(kind: &str, wheels: &[&Pin], files: usize) -> Value {
    let row = |pin: &&Pin| json!({"name": pin.name, "version": pin.version, "sha256": pin.sha256});
    json!({"kind": kind, "files": files, "wheels": wheels.iter().map(row).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_packages_leave_out_skills_tests_data_and_most_metadata() {
        for kept in ["skillware/core/loader.py", "a-1.dist-info/METADATA", "_pyrsistent_version.py", "x/skills/y.py"] {
            assert!(in_site_packages(kept), "{kept}");
        }
        for left in ["skills/a/skill.py", "a/tests/t.py", "a-1.data/scripts/x", "a-1.dist-info/licenses/LICENSE"] {
            assert!(!in_site_packages(left), "{left}");
        }
    }

    #[test]
    fn another_pin_makes_another_pack() {
        let all: Vec<&Pin> = pins().packages().iter().collect();
        assert_ne!(pack_name("packages", &all), pack_name("packages", &all[1..]));
    }
}
