//! A virtual environment has what is required, locked; it is made once, and again when its tree is gone.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::server::{Server, answer};
use crate::common::{HOST, debian, returned};
use serde_json::json;
use skillcell::{Call, Choice, Host, Roots, Skill, Tier};
use skillcell_packages::venv::{Venv, VenvError};
use skillcell_tiers::container::Engine;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn requirements(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn it_has_the_pinned_framework_and_native_packages_locked_by_hash_and_is_made_once() {
    let venv = HOST.venv(&requirements(&["markupsafe"]), &[]).expect("pip has an index");
    let locked = |name: &str| venv.lock().packages.iter().find(|p| p.name.eq_ignore_ascii_case(name));
    assert!(locked("skillware").is_some_and(|p| p.version == "0.6.0" && !p.is_native()));
    assert!(locked("markupsafe").is_some_and(|p| p.is_native() && p.sha256.len() == 64));
    // The versions that cells have.
    assert!(locked("jsonschema").is_some_and(|p| p.version == "4.17.3"));
    assert!(venv.python().exists() && venv.disk_bytes() > 1 << 20);
    let made = |path: &Path| fs::metadata(path).map(|meta| meta.ino()).ok();
    let first = made(venv.root());
    let again = HOST.venv(&requirements(&["markupsafe", "markupsafe"]), &[]).unwrap();
    assert_eq!((again.root(), made(again.root())), (venv.root(), first));
    let other = HOST.venv(&[], &requirements(&["markupsafe<3"])).unwrap();
    assert_ne!(other.root(), venv.root());
    fs::remove_dir_all(other.root()).unwrap();
    assert!(HOST.venv(&[], &requirements(&["markupsafe<3"])).unwrap().python().exists());
}

#[test]
fn a_requirement_that_no_wheel_meets_says_which_versions_there_are() {
    let error = HOST.venv(&requirements(&["markupsafe==0.0.0.1"]), &[]).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`markupsafe` has no version that is `==0.0.0.1`; there are "), "{text}");
    assert!(error.hint().is_some_and(|hint| hint.contains("only wheels")), "{:?}", error.hint());
}

#[test]
fn a_requirement_that_is_an_option_or_an_address_never_reaches_pip() {
    for line in ["--index-url=http://127.0.0.1:1/", "x @ file:///tmp/x", "-e ."] {
        let error = HOST.venv(&requirements(&[line]), &[]).unwrap_err();
        assert!(matches!(error, skillcell::HostError::Venv(VenvError::Requirement { .. })), "{error}");
    }
}

/// A wheel in this folder.
fn wheel(folder: &Path, name: &str, version: &str, requires: &[&str], files: &[(&str, &str)]) {
    let info = format!("{name}-{version}.dist-info");
    let mut metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
    requires.iter().for_each(|one| metadata += &format!("Requires-Dist: {one}\n"));
    let tag = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    let file = fs::File::create(folder.join(format!("{name}-{version}-py3-none-any.whl"))).unwrap();
    let mut zip = ZipWriter::new(file);
    let own = [(format!("{info}/METADATA"), metadata), (format!("{info}/WHEEL"), tag.to_owned())];
    let own = own.into_iter().chain([(format!("{info}/RECORD"), String::new())]);
    for (path, text) in files.iter().map(|(path, text)| (path.to_string(), text.to_string())).chain(own) {
        zip.start_file(path, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

/// With the user's own index, and these wheels besides.
fn host_with(wheels: &Path) -> Host {
    let builder = Host::builder().roots(Roots::new([])).wheels([wheels.to_owned()]);
    builder.container_base(debian::IMAGE).build().unwrap()
}

/// A server on loopback that counts who asks, and gives an archive whose `setup.py` writes a file.
struct Trap {
    server: Server,
    marker: PathBuf,
}

impl Trap {
    fn set(folder: &Path) -> Trap {
        let marker = folder.join("marker");
        let source = folder.join("trapped-1.0");
        fs::create_dir(&source).unwrap();
        let setup = format!(
            "open({:?}, 'w').write('x')\nfrom setuptools import setup\nsetup(name='trapped', version='1.0')",
            marker
        );
        fs::write(source.join("setup.py"), setup).unwrap();
        let archive = folder.join("trapped-1.0.tar.gz");
        let made = Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(folder).arg("trapped-1.0").status();
        assert!(made.unwrap().success());
        let bytes = fs::read(archive).unwrap();
        let server = Server::start(None, move |_| Some(answer("200 OK", &[("Connection", "close")], &bytes)));
        Trap { server, marker }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/trapped-1.0.tar.gz", self.server.port)
    }

    fn is_untouched(&self) -> bool {
        self.server.connections() == 0 && !self.marker.exists()
    }
}

#[test]
fn what_a_wheel_requires_by_an_address_is_refused_with_its_chain_and_nobody_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (wheels, trap) = (folder.path().join("wheels"), Trap::set(folder.path()));
    fs::create_dir(&wheels).unwrap();
    wheel(&wheels, "skc_upper", "1", &["skc_middle"], &[("skc_upper.py", "")]);
    wheel(&wheels, "skc_middle", "1", &[&format!("trapped @ {}", trap.address())], &[("skc_middle.py", "")]);
    wheel(&wheels, "skc_plain", "1", &["skc_below", "trapped @ http://127.0.0.1:1/x ; extra == 'more'"], &[]);
    wheel(&wheels, "skc_below", "1", &[], &[("skc_below.py", "X = 1")]);
    let host = host_with(&wheels);
    let error = host.venv(&requirements(&["skc_upper"]), &[]).unwrap_err();
    let chain = format!("`skc-upper → skc-middle → trapped @ {}` is refused: it names an address", trap.address());
    assert!(error.to_string().contains(&chain), "{error}");
    assert!(trap.is_untouched());
    // A plain dependency is installed, and an address that only an extra needs is not in the way.
    let venv = host.venv(&requirements(&["skc_plain"]), &[]).unwrap();
    assert!(venv.lock().packages.iter().any(|locked| locked.name == "skc-below"), "{:?}", venv.lock());
    let error = host.venv(&requirements(&["skc_plain[more]"]), &[]).unwrap_err();
    assert!(error.to_string().contains("skc-plain → trapped @"), "{error}");
    assert!(trap.is_untouched());
}

#[test]
fn wheels_that_are_given_for_one_skill_are_in_no_environment_of_another() {
    let [one, other] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    wheel(one.path(), "skc_shared", "1", &[], &[("skc_shared.py", "X = 'one'")]);
    wheel(other.path(), "skc_shared", "1", &[], &[("skc_shared.py", "X = 'other'")]);
    let wanted = requirements(&["skc_shared"]);
    let [one, other] = [&one, &other].map(|folder| host_with(folder.path()).venv(&wanted, &[]).unwrap());
    assert_ne!(one.root(), other.root());
    assert!(HOST.venv(&wanted, &[]).unwrap_err().to_string().contains("is not in the package index"));
    assert!(text_in(&one, "skc_shared.py").contains("one") && text_in(&other, "skc_shared.py").contains("other"));
}

fn site(venv: &Venv) -> PathBuf {
    let lib = fs::read_dir(venv.root().join("lib")).unwrap().flatten().next().unwrap();
    lib.path().join("site-packages")
}

fn text_in(venv: &Venv, path: &str) -> String {
    fs::read_to_string(site(venv).join(path)).unwrap()
}

#[test]
fn a_wheel_gives_what_can_be_imported_and_nothing_of_it_runs_while_it_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("marker");
    let runs = format!("import pathlib; pathlib.Path({marker:?}).write_text('x')\n");
    wheel(
        folder.path(),
        "skc_odd",
        "1",
        &[],
        &[
            ("skc_odd/__init__.py", &runs),
            ("skc_odd.pth", &runs),
            ("sitecustomize.py", &runs),
            ("skc_odd-1.data/scripts/python", "#!/bin/sh\n"),
            ("skc_odd-1.data/data/pyvenv.cfg", "home = /tmp\n"),
            ("skc_odd-1.data/data/bin/python3", "#!/bin/sh\n"),
            ("skc_odd-1.data/platlib/skc_more.py", "X = 1"),
            ("skc_öd\u{202e}d.py", "X = 1"),
            ("skc_odd-1.dist-info/entry_points.txt", "[console_scripts]\npython = skc_odd:main\npip = skc_odd:main\n"),
        ],
    );
    let venv = host_with(folder.path()).venv(&requirements(&["skc_odd"]), &[]).unwrap();
    assert!(!marker.exists(), "something of the wheel ran");
    assert_eq!(text_in(&venv, "skc_more.py"), "X = 1");
    assert!(!fs::read_to_string(venv.root().join("pyvenv.cfg")).unwrap().contains("/tmp\n"));
    let programs: Vec<_> = fs::read_dir(venv.root().join("bin")).unwrap().flatten().map(|it| it.file_name()).collect();
    assert!(programs.iter().all(|name| !name.to_string_lossy().contains("pip")), "{programs:?}");
    assert!(site(&venv).join("skc_odd/__pycache__").is_dir(), "it is compiled once for all calls");
    assert!(venv.python().is_symlink());
}

#[test]
fn a_wheel_that_breaks_a_rule_or_is_another_than_was_asked_for_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    wheel(folder.path(), "skc_out", "1", &[], &[("../../outside.py", "x")]);
    wheel(folder.path(), "skc_abs", "1", &[], &[("/etc/outside.py", "x")]);
    wheel(folder.path(), "skc_data", "1", &[], &[("skc_data-1.data/purelib/../../../outside.py", "x")]);
    wheel(folder.path(), "skc_two", "1", &[], &[("other-9.dist-info/METADATA", "Name: other\nVersion: 9\n")]);
    wheel(folder.path(), "skc_real", "1", &[], &[]);
    fs::rename(folder.path().join("skc_real-1-py3-none-any.whl"), folder.path().join("skc_fake-7-py3-none-any.whl"))
        .unwrap();
    let host = host_with(folder.path());
    for name in ["skc_out", "skc_abs", "skc_data", "skc_two", "skc_fake"] {
        let error = host.venv(&requirements(&[name]), &[]).unwrap_err();
        assert!(error.to_string().contains("is refused"), "{name}: {error}");
    }
}

/// A skill in this folder that requires this and gives `X` of a module.
fn skill_in(host: &Host, folder: &Path, requirements: serde_json::Value, module: &str) -> Skill {
    let manifest = json!({"name": "needy", "version": "1", "description": "d", "requirements": requirements});
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("manifest.yaml"), manifest.to_string()).unwrap();
    let source = format!(
        "from skillware.core.base_skill import BaseSkill\nclass Needy(BaseSkill):\n    manifest = {{}}\n    \
         def execute(self, params):\n        import {module}\n        return {module}.X\n"
    );
    fs::write(folder.join("skill.py"), source).unwrap();
    host.skill(folder.to_str().unwrap()).unwrap()
}

/// Every tier that this machine has.
fn tiers() -> Vec<Tier> {
    let container = Engine::of_machine().is_ok_and(|engine| debian::base(engine.kind.program()).is_ok());
    if !container {
        eprintln!("SKIPPED container: there is no engine with a base image");
    }
    [Tier::Wasm, Tier::Subprocess, Tier::InProcess].into_iter().chain(container.then_some(Tier::Container)).collect()
}

fn call_in(tier: Tier, host: &Host, skill: &Skill) -> Result<serde_json::Value, String> {
    let mut call = Call::new(json!({}));
    (call.tier, call.trust_remote_code) = (Choice::Tier(tier), true);
    let report = host.call(skill, &call);
    returned(report.map_err(|error| format!("{error} hint: {}", error.hint().unwrap_or_default()))?)
}

#[test]
fn in_every_tier_an_address_that_a_wheel_requires_is_told_with_its_chain_and_nobody_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (wheels, trap) = (folder.path().join("wheels"), Trap::set(folder.path()));
    fs::create_dir(&wheels).unwrap();
    wheel(&wheels, "skc_top", "1", &[&format!("trapped @ {}", trap.address())], &[("skc_top.py", "import trapped")]);
    wheel(&wheels, "skc_good", "1", &["skc_under"], &[("skc_good.py", "from skc_under import X")]);
    wheel(&wheels, "skc_under", "1", &[], &[("skc_under.py", "X = 'under'")]);
    let host = host_with(&wheels);
    // A text in place of a list is one requirement, in every tier.
    let good = skill_in(&host, &folder.path().join("good"), json!("skc_good"), "skc_good");
    let bad = skill_in(&host, &folder.path().join("bad"), json!(["skc_top"]), "skc_top");
    for tier in tiers() {
        assert_eq!(call_in(tier, &host, &good), Ok(json!("under")), "{tier}");
        let said = call_in(tier, &host, &bad).unwrap_err();
        assert!(
            said.contains("skc-top → trapped @ http://127.0.0.1:") && said.contains("names an address"),
            "{tier}: {said}"
        );
        assert!(trap.is_untouched(), "{tier}");
    }
}

#[test]
fn every_tier_installs_what_the_lock_beside_the_skill_says() {
    let folder = tempfile::tempdir().unwrap();
    let (wheels, place) = (folder.path().join("wheels"), folder.path().join("skill"));
    fs::create_dir(&wheels).unwrap();
    wheel(&wheels, "skc_kept", "1", &[], &[("skc_kept.py", "X = 'locked'")]);
    let host = host_with(&wheels);
    let skill = skill_in(&host, &place, json!(["skc_kept"]), "skc_kept");
    let lock = host.lock(&skill).unwrap();
    assert!(lock.other_targets().count() >= 1, "{:?}", lock.not_locked);
    let text = lock.to_text();
    let write = |text: &str| {
        fs::write(place.join("skillcell.lock"), text).unwrap();
        host.skill(place.to_str().unwrap()).unwrap()
    };
    wheel(&wheels, "skc_kept", "2", &[], &[("skc_kept.py", "X = 'newer'")]);
    let locked: Vec<Tier> = tiers().into_iter().filter(|tier| *tier != Tier::Container).collect();
    for tier in &locked {
        assert_eq!(call_in(*tier, &host, &write(&text)), Ok(json!("locked")), "{tier}");
        assert_eq!(call_in(*tier, &host, &skill), Ok(json!("newer")), "{tier}: without a lock");
        let said = call_in(*tier, &host, &write(&text.replace("\"skc_kept\"", "\"skc_other\""))).unwrap_err();
        assert!(said.contains("out of date") && said.contains("skillcell lock"), "{tier}: {said}");
    }
    // As locks once were, and one for another Python.
    let mut old: serde_json::Value = serde_json::from_str(&text).unwrap();
    old.as_object_mut().unwrap().remove("native");
    let old = write(&old.to_string());
    assert_eq!(call_in(Tier::Wasm, &host, &old), Ok(json!("locked")));
    for tier in [Tier::Subprocess, Tier::InProcess] {
        let said = call_in(tier, &host, &old).unwrap_err();
        assert!(said.contains("has no packages for Python 3.") && said.contains("skillcell lock"), "{tier}: {said}");
    }
}
