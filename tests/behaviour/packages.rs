//! Promise: a skill's requirements become packages in its cells, as pip resolves them for the guest; what can't be had is
//! told, never fatal; and what an index, a wheel, a manifest or a lock says is not believed.
//!
//! Most of it runs against a folder of wheels that are made here, offline, with the real pip.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use crate::common::{HOST, host_builder, raised, returned};
use serde_json::{Value, json};
use skillcell::{Call, Host, HostError, Roots, Skill};
use skillcell_limits::RuntimeKind;
use skillcell_packages::{PackageStatus, Packages};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A folder with an index (`wheels`) and a skill that requires things.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(requirements: &[&str], source: &str) -> Place {
        // The runtime and the framework may have to be fetched first: by a host that can.
        HOST.install().expect("the runtime can be had");
        let place = Place { folder: tempfile::tempdir().expect("a temporary folder") };
        fs::create_dir(place.wheels()).unwrap();
        fs::create_dir(place.skill()).unwrap();
        // One that holds nowhere makes the set a new one, which nothing is remembered of.
        let salt =
            format!("salt-{}; os_name == 'nt'", place.folder.path().file_name().unwrap().display()).replace('.', "");
        let requirements: Vec<&str> = requirements.iter().copied().chain([salt.as_str()]).collect();
        let manifest = json!({"name": "needy", "version": "1", "description": "d", "requirements": requirements});
        fs::write(place.skill().join("manifest.yaml"), manifest.to_string()).unwrap();
        let body = format!(
            "from skillware.core.base_skill import BaseSkill\n{source}\n\
             class Needy(BaseSkill):\n    manifest = {{}}\n    def execute(self, params):\n        return run(params)\n"
        );
        fs::write(place.skill().join("skill.py"), body).unwrap();
        place
    }

    fn wheels(&self) -> PathBuf {
        self.folder.path().join("wheels")
    }

    fn skill(&self) -> PathBuf {
        self.folder.path().join("skill")
    }

    /// Offline, with the folder as the only index; on the first runtime.
    fn host(&self) -> Host {
        let builder = Host::builder().roots(Roots::new([])).offline(true).runtime(RuntimeKind::WasiPython);
        builder.wheels([self.wheels()]).build().expect("the cache folder can be used")
    }

    fn found(&self, host: &Host) -> Skill {
        host.skill(self.skill().to_str().unwrap()).unwrap()
    }

    fn packages(&self) -> Packages {
        let host = self.host();
        host.packages(&self.found(&host)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What the requirements come to on the second runtime.
    fn in_pyodide(&self) -> Packages {
        let host = self.host();
        host.packages_on(RuntimeKind::Pyodide, &self.found(&host)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn call(&self, params: Value) -> Result<Value, String> {
        let host = self.host();
        returned(host.call(&self.found(&host), &Call::new(params)).map_err(|error| error.to_string())?)
    }

    fn wheel(&self, name: &str, requires: &[&str], files: &[(&str, &str)]) {
        self.tagged(&format!("{name}-py3-none-any.whl"), requires, files);
    }

    fn tagged(&self, file: &str, requires: &[&str], files: &[(&str, &str)]) {
        let mut parts = file.split('-');
        let (name, version) = (parts.next().unwrap(), parts.next().unwrap());
        let info = format!("{name}-{version}.dist-info");
        let mut metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        requires.iter().for_each(|one| metadata += &format!("Requires-Dist: {one}\n"));
        let mut all = vec![(format!("{info}/METADATA"), metadata)];
        all.push((
            format!("{info}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n".into(),
        ));
        all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        let record: String = all.iter().map(|(path, _)| format!("{path},,\n")).collect();
        all.push((format!("{info}/RECORD"), record));
        let mut zip = ZipWriter::new(File::create(self.wheels().join(file)).unwrap());
        for (path, text) in all {
            zip.start_file(path, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
    }
}

/// Where something stands, by name.
fn standing<'a>(packages: &'a Packages, name: &str) -> &'a PackageStatus {
    let found = packages.packages.iter().find(|package| package.name == name);
    &found.unwrap_or_else(|| panic!("no {name} in {packages:#?}")).standing
}

fn nothing() -> &'static str {
    "def run(params): return {}"
}

#[test]
fn a_pure_wheel_and_what_it_needs_can_be_imported() {
    let place =
        Place::new(&["Top_Package>=1"], "import top_package\ndef run(params): return {'v': top_package.value()}");
    place.wheel("top_package-1.5", &["below>=2,<3", "numpy>=1", "absent; sys_platform == 'win32'"], &[(
        "top_package/__init__.py",
        "import below, numpy, importlib.metadata as m\ndef value(): return [below.X, m.version('below'), below.__file__]",
    )]);
    place.wheel("below-2.9", &[], &[("below.py", "X = 'new'")]);
    place.wheel("below-2.1", &[], &[("below.py", "X = 'old'")]);
    place.wheel("below-3.0", &[], &[("below.py", "X = 'too new'")]);
    let value = place.call(json!({})).unwrap();
    assert_eq!(value, json!({"v": ["new", "2.9", "/usr/local/lib/requirements/below.py"]}));
    let packages = place.packages();
    assert!(matches!(standing(&packages, "numpy"), PackageStatus::Runtime { .. }));
    assert!(matches!(standing(&packages, "below"), PackageStatus::Wheel { sha256, .. } if sha256.len() == 64));
    assert_eq!(packages.packages.iter().find(|p| p.name == "below").unwrap().chain, ["top-package", "below"]);
    assert!(packages.packages.iter().all(|package| package.name != "absent"), "its marker does not hold in a cell");
}

#[test]
fn a_version_that_two_want_is_found_although_the_newest_was_taken_first() {
    let place = Place::new(&["one", "two"], nothing());
    place.wheel("one-1", &["shared"], &[]);
    place.wheel("two-1", &["middle"], &[]);
    place.wheel("middle-1", &["shared<2"], &[]);
    place.wheel("shared-1.0", &[], &[]);
    place.wheel("shared-2.0", &["only_of_two"], &[]);
    let packages = place.packages();
    assert_eq!(standing(&packages, "shared").version(), Some("1.0"));
    assert!(
        packages.packages.iter().all(|package| package.name != "only-of-two"),
        "what the other needed is forgotten"
    );
}

#[test]
fn what_is_met_already_needs_no_pip() {
    let place = Place::new(
        &["requests>=2", "PyYAML", "numpy", "beautifulsoup4"],
        "import requests, yaml, numpy, bs4\ndef run(p): return 1",
    );
    let host = Host::builder().roots(Roots::new([])).offline(true).build().unwrap();
    let skill = place.found(&host);
    let packages = host.packages(&skill).unwrap();
    assert!(packages.is_complete() && packages.missing().next().is_none(), "{packages:?}");
    assert!(matches!(standing(&packages, "requests"), PackageStatus::Framework { .. }));
    assert_eq!(returned(host.call(&skill, &Call::new(json!({}))).unwrap()), Ok(json!(1)));
}

#[test]
fn without_an_index_a_requirement_is_unresolved_and_the_skill_still_runs() {
    let lazy = "def run(params):\n    import some_thing_unheard_of";
    let place = Place::new(&["some-thing-unheard-of"], lazy);
    let host = Host::builder().roots(Roots::new([])).offline(true).build().unwrap();
    let skill = place.found(&host);
    let packages = host.packages(&skill).unwrap();
    assert!(!packages.is_complete());
    assert!(
        matches!(standing(&packages, "some-thing-unheard-of"), PackageStatus::Unresolved { why } if why.starts_with("no index"))
    );
    let error = raised(host.call(&skill, &Call::new(json!({}))).unwrap()).unwrap();
    assert!(error.message.contains("`some-thing-unheard-of` is not resolved: no index"), "{}", error.message);
}

#[test]
fn a_native_package_is_told_with_chain_tags_and_tier_when_its_import_fails() {
    let lazy = "def run(params):\n    if params.get('need'):\n        import upper\n    return 'fine without'";
    let place = Place::new(&["upper"], lazy);
    place.wheel("upper-1", &["fast_core>=2", "sourced"], &[("upper.py", "import fast_core")]);
    place.tagged("fast_core-2.5-cp311-cp311-manylinux_2_28_x86_64.whl", &[], &[]);
    place.tagged("fast_core-1.5-cp311-cp311-win_amd64.whl", &[], &[]);
    fs::write(place.wheels().join("sourced-0.3.tar.gz"), "sources").unwrap();
    assert_eq!(place.call(json!({})).unwrap(), json!("fine without"));
    let text = place.call(json!({"need": true})).unwrap_err();
    for part in
        ["`fast-core`", "upper → fast-core", "2.5", "cp311-cp311-manylinux_2_28_x86_64", "`subprocess`", "`container`"]
    {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    assert!(!text.contains("win_amd64"), "{text}");
    assert!(matches!(standing(&place.packages(), "sourced"), PackageStatus::Source { version } if version == "0.3"));
}

#[test]
fn a_stand_in_without_the_wheel_that_it_completes_is_not_there_and_not_fatal() {
    let place = Place::new(&["biopython", "rpds-py"], nothing());
    let packages = place.packages();
    assert!(matches!(standing(&packages, "biopython"), PackageStatus::Unresolved { .. }), "{packages:?}");
    assert!(matches!(standing(&packages, "rpds-py"), PackageStatus::StandIn { .. }), "{packages:?}");
    assert!(place.call(json!({})).is_ok());
}

#[test]
fn what_no_index_has_is_not_found_and_what_has_no_fitting_version_says_which_there_are() {
    let place = Place::new(&["nowhere-to-be-seen", "known>=5"], nothing());
    place.wheel("known-1.0", &[], &[]);
    let packages = place.packages();
    assert_eq!(*standing(&packages, "nowhere-to-be-seen"), PackageStatus::NotFound);
    assert!(matches!(standing(&packages, "known"), PackageStatus::NoVersion { versions } if versions == &["1.0"]));
}

#[test]
fn options_addresses_and_paths_never_reach_pip() {
    let hostile = [
        "--index-url=http://127.0.0.1:1/",
        "evil @ http://127.0.0.1:1/evil.whl",
        "/etc/passwd",
        "-r /etc/passwd",
        "ok\n-r x",
    ];
    let place = Place::new(&[&hostile[..], &["fine"]].concat(), nothing());
    place.wheel("fine-1", &["sub @ file:///etc/passwd"], &[]);
    let packages = place.packages();
    assert_eq!(packages.refused.len(), hostile.len() + 1, "{packages:?}");
    let (chain, why) = packages.refused.last().unwrap();
    assert!(chain == "fine → sub @ file:///etc/passwd" && why.contains("names an address"), "{chain}: {why}");
    assert_eq!(packages.packages.len(), 1, "{packages:?}");
    assert!(packages.packages[0].standing.is_there());
}

#[test]
fn a_wheel_that_breaks_the_rules_is_refused_and_the_rest_is_there() {
    let place = Place::new(&["evil", "good", "odd"], "import good\ndef run(params): return good.X");
    place.wheel("evil-1", &[], &[("../../outside.py", "x")]);
    place.wheel("odd-1", &["--index-url=x"], &[("odd.py", "x")]);
    place.wheel(
        "good-1",
        &[],
        &[("good.py", "X = 1"), ("good.pth", "import os"), ("numpy/__init__.py", "raise SystemExit")],
    );
    assert_eq!(place.call(json!({})).unwrap(), json!(1));
    for name in ["evil", "odd"] {
        let packages = place.packages();
        assert!(matches!(standing(&packages, name), PackageStatus::Refused { .. }), "{packages:#?}");
    }
}

#[test]
fn a_package_takes_the_place_of_nothing_that_is_there() {
    let source =
        "import json, requests, numpy\ndef run(params): return [json.__file__, requests.__file__, numpy.__file__]";
    let place = Place::new(&["squatter"], source);
    let files = ["json/__init__.py", "requests/__init__.py", "numpy/__init__.py", "skillware/__init__.py"];
    place.wheel("squatter-1", &[], &files.map(|file| (file, "raise SystemExit('taken')")));
    let value = place.call(json!({})).unwrap().to_string();
    assert!(!value.contains("/requirements/"), "{value}");
}

#[test]
fn a_lock_is_used_and_another_wheel_under_the_same_name_is_an_error() {
    let place = Place::new(&["locked"], "import locked\ndef run(params): return locked.X");
    let unique = place.folder.path().display().to_string();
    place.wheel("locked-1.0", &[], &[("locked.py", &format!("X = 1 # {unique}"))]);
    let host = place.host();
    let lock = host.lock(&place.found(&host)).unwrap().to_text();
    assert!(!lock.contains("://") && lock.contains("sha256"), "{lock}");
    fs::write(place.skill().join("skillcell.lock"), &lock).unwrap();
    place.wheel("locked-2.0", &[], &[("locked.py", "X = 2")]);
    assert_eq!(place.call(json!({})).unwrap(), json!(1), "the newer one is not locked");
    // The same name with other bytes, and nothing of it in the cache.
    let other = lock.replace(sha256_in(&lock), &"0".repeat(64));
    fs::write(place.skill().join("skillcell.lock"), other).unwrap();
    let error = host.call(&place.found(&host), &Call::new(json!({}))).unwrap_err();
    assert!(
        error.to_string().contains("is not the pinned wheel") && error.to_string().contains(&"0".repeat(64)),
        "{error}"
    );
}

fn sha256_in(lock: &str) -> &str {
    lock.split("\"sha256\": \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a wheel is locked")
}

#[test]
fn the_command_writes_the_lock_beside_the_skill_and_shows_what_is_in_it() {
    let place = Place::new(&["numpy", "locked", "--pre"], nothing());
    place.wheel("locked-1.0", &["core"], &[("locked.py", "X = 1")]);
    place.tagged("core-3-cp311-cp311-macosx_11_0_arm64.whl", &[], &[]);
    let run = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command
            .args(["--offline", "--quiet", "lock"])
            .arg(place.skill())
            .arg("--from-wheel")
            .arg(place.wheels())
            .args(more);
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&[]);
    for part in
        ["comes with the runtime", "locked 1.0 sha256:", "locked → core", "macosx_11_0_arm64", "an option of pip"]
    {
        assert!(text.contains(part), "{text}");
    }
    let written = fs::read_to_string(place.skill().join("skillcell.lock")).unwrap();
    assert_eq!(run(&["--print"]), written);
    let again: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(again["schema"], 1);
}

#[test]
fn wheels_that_need_each_other_without_end_are_an_error_and_not_a_hang() {
    let place = Place::new(&["knot[x0]"], nothing());
    let requires: Vec<String> = (0..900).map(|n| format!("knot[x{n},y{n}]; extra == 'x{}'", n / 2)).collect();
    let requires: Vec<&str> = requires.iter().map(String::as_str).collect();
    place.wheel("knot-1", &requires, &[]);
    let started = std::time::Instant::now();
    let host = place.host();
    // Whether that is too much or is cut short, it ends.
    let _ = host.packages(&place.found(&host));
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn a_lock_for_other_requirements_or_with_an_option_in_it_is_an_error_that_says_what_to_do() {
    let place = Place::new(&["locked"], nothing());
    place.wheel("locked-1.0", &[], &[("locked.py", "X = 1")]);
    let host = place.host();
    let lock = host.lock(&place.found(&host)).unwrap().to_text();
    for (bad, says) in [
        (lock.replace("\"requirements\": [\n    \"locked\"", "\"requirements\": [\n    \"other\""), "out of date"),
        (lock.replace("\"version\": \"1.0\"", "\"version\": \"1.0\\n-r /etc/passwd\""), "not pinned"),
        (lock.replace("locked-1.0-py3-none-any.whl", "../x-py3-none-any.whl"), "not pinned"),
        ("{".to_owned(), "is not one"),
    ] {
        assert_ne!(bad, lock);
        fs::write(place.skill().join("skillcell.lock"), bad).unwrap();
        let error: HostError = host.packages(&place.found(&host)).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("skillcell lock")));
    }
}

#[test]
fn what_was_resolved_is_remembered_and_needs_no_pip_the_second_time() {
    let place = Place::new(&["remembered"], "import remembered\ndef run(params): return remembered.X");
    place.wheel("remembered-1", &[], &[("remembered.py", "X = 1")]);
    assert_eq!(place.call(json!({})).unwrap(), json!(1));
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_skillcell"));
    run.env("SKILLCELL_PYTHON", "/there/is/no/python").args(["--offline", "--quiet", "run", "--no-image", "--json"]);
    let ran = crate::common::ran::finish(run.arg(place.skill()).arg("--from-wheel").arg(place.wheels()));
    assert_eq!((ran.code, &ran.json()["result"]), (0, &json!(1)), "{}", ran.stderr);
}

#[test]
fn a_wheel_that_is_given_for_one_skill_is_never_anothers() {
    let source = "def run(params):\n    import helper\n    return helper.X";
    let [one, other] = ["given", "not given"].map(|x| {
        let place = Place::new(&[], source);
        let skill = place.skill().join("manifest.yaml");
        // The same requirements: all that differs is the wheels that are given.
        fs::write(
            skill,
            json!({"name": "needy", "version": "1", "description": x, "requirements": ["helper"]}).to_string(),
        )
        .unwrap();
        place
    });
    one.wheel("helper-1", &[], &[("helper.py", "X = 'of one skill'")]);
    assert_eq!(one.call(json!({})), Ok(json!("of one skill")));
    let text = other.call(json!({})).unwrap_err();
    assert!(text.contains("No module named 'helper'") && text.contains("is not in the package index"), "{text}");
    other.wheel("helper-1", &[], &[("helper.py", "X = 'of another skill'")]);
    assert_eq!(other.call(json!({})), Ok(json!("of another skill")));
}

#[test]
fn markers_see_what_a_cell_sees() {
    let source = "def run(params):\n    import sys, os, platform\n    return {'sys_platform': sys.platform, 'os_name': os.name, \
                  'platform_machine': platform.machine(), 'platform_system': platform.system(), 'platform_release': platform.release(), \
                  'platform_version': platform.version(), 'python_full_version': platform.python_version(), \
                  'python_version': '.'.join(platform.python_version_tuple()[:2]), 'implementation_name': sys.implementation.name, \
                  'implementation_version': platform.python_version(), 'platform_python_implementation': platform.python_implementation()}";
    let place = Place::new(&[], source);
    let seen = place.call(json!({})).unwrap();
    let ours: Value =
        skillcell_packages::ENVIRONMENT.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    assert_eq!(seen, ours);
}

/// The user's own index, as CI has it: skills of the registry that need more than a cell has.
#[test]
fn registry_skills_get_their_packages() {
    let skill = HOST.skill("creative/deck_builder").unwrap();
    let packages = HOST.packages_on(RuntimeKind::WasiPython, &skill).unwrap();
    assert!(matches!(standing(&packages, "python-pptx"), PackageStatus::Wheel { .. }), "{packages:#?}");
    assert!(matches!(standing(&packages, "pillow"), PackageStatus::Runtime { .. }));
    let skill = HOST.skill("office/pdf_form_filler").unwrap();
    let first = host_builder().runtime(RuntimeKind::WasiPython).build().unwrap();
    let packages = first.packages(&skill).unwrap();
    assert!(
        matches!(standing(&packages, "pymupdf"), PackageStatus::Native { tags, .. } if !tags.is_empty()),
        "{packages:#?}"
    );
    let mut call = Call::new(json!({}));
    call.tier = skillcell::Choice::Tier(skillcell::Tier::Wasm);
    let error = raised(first.call(&skill, &call).unwrap()).unwrap();
    assert!(error.message.contains("`pymupdf` can't run in a cell"), "{}", error.message);
}

/// The verdict of the analysis, its reasons, and what the skill does without.
fn inspected(place: &Place) -> (String, Vec<String>, Vec<String>) {
    let host = place.host();
    let found =
        skillcell_study::analysis::analyse(&host, &place.found(&host)).unwrap_or_else(|error| panic!("{error}"));
    let texts =
        |reasons: &[skillcell_study::analysis::Reason]| reasons.iter().map(|reason| reason.text.clone()).collect();
    (found.verdict.name().to_owned(), texts(&found.reasons), texts(&found.optional))
}

#[test]
fn a_pure_wheel_that_wants_a_library_of_the_system_is_no_package_that_a_cell_has() {
    let place = Place::new(&["finder"], "import finder\ndef run(params): return finder.find()");
    let source =
        "import ctypes.util\nif not ctypes.util.find_library('finder'):\n    raise ImportError('no libfinder')";
    place.wheel("finder-1", &[], &[("finder.py", source)]);
    let (verdict, reasons, _) = inspected(&place);
    assert_eq!(verdict, "not in wasm", "{reasons:?}");
    assert!(reasons[0].contains("ImportError") && reasons[0].contains("fails in a cell"), "{reasons:?}");
    assert!(place.call(json!({})).is_err(), "and that is how it is");
}

#[test]
fn a_package_that_does_without_something_it_asks_for_is_there() {
    let source = "try:\n    import fast_core\nexcept ImportError:\n    fast_core = None\ndef find(): return 'slowly'";
    let of = |requirement: &str, needs: &str| {
        let place = Place::new(&[requirement], "import finder\ndef run(params): return finder.find()");
        place.wheel("finder-1", &[needs], &[("finder.py", source)]);
        place.tagged("fast_core-2.5-cp311-cp311-manylinux_2_28_x86_64.whl", &[], &[]);
        assert_eq!(place.call(json!({})), Ok(json!("slowly")));
        inspected(&place)
    };
    let (verdict, reasons, optional) = of("finder[speed]", "fast-core; extra == 'speed'");
    assert_eq!(verdict, "runs", "{reasons:?}");
    assert!(optional[0].contains("`fast-core` (finder → fast-core)"), "{optional:?}");
    // Without an extra its author takes it for needed: what needs it nobody knows.
    let (verdict, reasons, _) = of("finder", "fast-core");
    assert_eq!(verdict, "partly", "{reasons:?}");
    assert!(reasons[0].contains("`fast-core` (finder → fast-core)"), "{reasons:?}");
}

#[test]
fn a_name_that_another_version_of_a_package_had_is_missed() {
    let place = Place::new(&["finder"], "import finder\ndef run(params): return finder.search('x')");
    place.wheel("finder-2", &[], &[("finder.py", "def find(): return 1")]);
    let (verdict, reasons, _) = inspected(&place);
    assert_eq!(verdict, "not in wasm", "{reasons:?}");
    assert!(reasons[0].contains("uses `finder.search`"), "{reasons:?}");
}

#[test]
fn a_graph_that_is_written_to_the_working_folder_is_not_called_fine() {
    let source = "import networkx\ndef run(params): return networkx.write_edgelist({}, path='graph.edgelist')";
    let place = Place::new(&["networkx"], source);
    let library =
        "def write_edgelist(graph, path):\n    with open(path, 'w') as file:\n        file.write(repr(graph))";
    place.wheel("networkx-3", &[], &[("networkx.py", library)]);
    let (verdict, reasons, _) = inspected(&place);
    assert_eq!(verdict, "not in wasm", "{reasons:?}");
    assert!(reasons[0].contains("the working folder (`networkx.write_edgelist`)"), "{reasons:?}");
    assert!(place.call(json!({})).is_err(), "and that is how it is");
}

/// The file of a wheel that was chosen.
fn file_of<'a>(packages: &'a Packages, name: &str) -> &'a str {
    match standing(packages, name) {
        PackageStatus::Wheel { file, .. } => file,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn the_second_runtime_takes_wheels_for_its_platform_and_the_first_does_not() {
    let place = Place::new(&["fast_core", "asks_where"], nothing());
    let files = [("fast_core/__init__.py", "x = 1"), ("fast_core/_core.so", "not really")];
    place.tagged("fast_core-2-cp314-cp314-pyemscripten_2026_0_wasm32.whl", &[], &files);
    place.tagged("fast_core-3-cp315-cp315-pyemscripten_2026_5_wasm32.whl", &[], &files);
    place.tagged("fast_core-3-cp314-cp314-manylinux_2_28_x86_64.whl", &[], &files);
    place.wheel(
        "asks_where-1",
        &["there; sys_platform == 'emscripten'", "here; sys_platform == 'wasi'"],
        &[("a.py", "x = 1")],
    );
    place.wheel("there-1", &["fast_core>=1"], &[("there.py", "x = 1")]);
    place.wheel("here-1", &[], &[("here.py", "x = 1")]);
    let packages = place.in_pyodide();
    assert_eq!(file_of(&packages, "fast-core"), "fast_core-2-cp314-cp314-pyemscripten_2026_0_wasm32.whl");
    assert_eq!(packages.native_wheels().map(|package| &*package.name).collect::<Vec<_>>(), ["fast-core"]);
    assert!(packages.packages.iter().any(|package| package.name == "there"));
    assert!(packages.packages.iter().all(|package| package.name != "here"));
    let first = place.packages();
    assert!(matches!(standing(&first, "fast-core"), PackageStatus::Native { version, .. } if version == "3"));
}

#[test]
fn a_wheel_for_an_older_platform_is_taken_by_a_rule_until_there_is_a_newer_one() {
    let place = Place::new(&["pymupdf", "statsmodels"], nothing());
    let old = "pymupdf-1.28.2-cp313-abi3-pyemscripten_2025_0_wasm32.whl";
    place.tagged(old, &[], &[("pymupdf/__init__.py", "x = 1"), ("pymupdf/_extra.so", "not really")]);
    place.tagged("statsmodels-1-cp313-cp313-pyemscripten_2025_0_wasm32.whl", &[], &[("statsmodels.py", "x = 1")]);
    let packages = place.in_pyodide();
    assert_eq!(file_of(&packages, "pymupdf"), old);
    let older: Vec<&str> = packages.older_wheels().map(|(package, _)| &*package.name).collect();
    assert_eq!(older, ["pymupdf"]);
    assert!(matches!(standing(&packages, "statsmodels"), PackageStatus::Native { .. }), "no rule is for it");
    let newer = "pymupdf-1.28.1-cp314-abi3-pyemscripten_2026_0_wasm32.whl";
    place.tagged(newer, &[], &[("pymupdf/__init__.py", "x = 1"), ("pymupdf/_extra.so", "not really")]);
    let packages = place.in_pyodide();
    assert_eq!((file_of(&packages, "pymupdf"), packages.older_wheels().count()), (newer, 0));
}

#[test]
fn a_placeholder_is_never_taken_for_the_package() {
    let place = Place::new(&["reserved", "empty_name", "meta_package"], nothing());
    place.wheel("reserved-0.0.1", &[], &[("reserved/__init__.py", "")]);
    place.tagged("reserved-2.5-cp311-cp311-manylinux_2_28_x86_64.whl", &[], &[("reserved/__init__.py", "x = 1")]);
    place.wheel("empty_name-0.0.1", &[], &[("empty_name/__init__.py", "")]);
    place.wheel("meta_package-1", &["what_it_is_for"], &[]);
    place.wheel("what_it_is_for-1", &[], &[("what/__init__.py", ""), ("what/inside.py", "x = 1")]);
    for packages in [place.in_pyodide(), place.packages()] {
        assert!(matches!(standing(&packages, "reserved"), PackageStatus::Native { version, .. } if version == "2.5"));
        assert!(
            matches!(standing(&packages, "empty-name"), PackageStatus::Refused { why } if why.contains("placeholder"))
        );
        assert!(standing(&packages, "meta-package").is_there() && standing(&packages, "what-it-is-for").is_there());
    }
}

#[test]
fn a_native_package_is_real_on_the_second_runtime_and_missing_on_the_first() {
    let place = Place::new(&["jiter", "rpds-py", "regex"], nothing());
    let file = "jiter-0.19.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl";
    place.tagged(file, &[], &[("jiter/__init__.py", "x = 1"), ("jiter/jiter.so", "not really")]);
    let (second, first) = (place.in_pyodide(), place.packages());
    assert_eq!(file_of(&second, "jiter"), file);
    assert!(matches!(standing(&first, "jiter"), PackageStatus::Native { .. }) && first.lacks_native());
    assert!(matches!(standing(&second, "rpds-py"), PackageStatus::StandIn { .. }), "there is no wheel of it");
    assert!(matches!(standing(&first, "regex"), PackageStatus::Runtime { .. }), "the real one is inside");
    assert!(matches!(standing(&second, "regex"), PackageStatus::StandIn { .. }), "there is no wheel of it");
}

#[test]
fn what_would_fetch_through_a_browser_has_the_requirements_of_other_systems() {
    let place = Place::new(&["httpx2", "other"], nothing());
    let by_platform = ["in_browsers; sys_platform == 'emscripten'", "elsewhere; sys_platform != 'emscripten'"];
    place.wheel("httpx2-2", &by_platform, &[("httpx2.py", "x = 1")]);
    place.wheel("other-2", &["of_emscripten; sys_platform == 'emscripten'"], &[("other.py", "x = 1")]);
    for name in ["in_browsers", "elsewhere", "of_emscripten"] {
        place.wheel(&format!("{name}-1"), &[], &[("x.py", "x = 1")]);
    }
    let packages = place.in_pyodide();
    let names: Vec<&str> = packages.packages.iter().map(|package| &*package.name).collect();
    assert_eq!(names, ["httpx2", "other", "elsewhere", "of-emscripten"]);
}
