//! Hostile working folders: the program's verbs are run where a stranger has put what a Python, a shell's `PATH`, pip, npm
//! or this program itself could take for its own. Nothing of it may run, nor change how the verb ends.
//!
//! Each *bait* leaves a mark when it is run. Its twin runs it on purpose, and the mark must then be there: a bait that
//! can't bite would prove nothing.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Modules that a Python imports of itself, or that ours ask it for.
const MODULES: [&str; 11] = [
    "pip.py",
    "venv.py",
    "site.py",
    "sitecustomize.py",
    "usercustomize.py",
    "json.py",
    "os.py",
    "platform.py",
    "runpy.py",
    "encodings/__init__.py",
    "_distutils_hack.py",
];
/// Programs that this one starts, and that those start.
const PROGRAMS: [&str; 11] =
    ["python3", "python", "pip", "bwrap", "podman", "docker", "node", "npm", "sh", "bash", "env"];
/// Settings, of which the first line names what would come of it. None has a way to run anything, but to be wrong.
const SETTINGS: [(&str, &str); 7] = [
    ("skillcell.toml", "no_such_key = 1\n"),
    ("pyvenv.cfg", "home = /nonexistent\n"),
    (".python-version", "0.0.1-none\n"),
    ("setup.cfg", "[install]\nprefix = /nonexistent\n[global]\nno-such = 1\n"),
    ("pyproject.toml", "not toml"),
    (".npmrc", "registry=http://127.0.0.1:1/\n"),
    (".pypirc", "not a file of settings"),
];

/// A stranger's folder, and where its baits leave their marks.
struct Stranger {
    folder: tempfile::TempDir,
    marks: tempfile::TempDir,
}

impl Stranger {
    fn empty() -> Stranger {
        Stranger { folder: tempfile::tempdir().unwrap(), marks: tempfile::tempdir().unwrap() }
    }

    fn with_everything() -> Stranger {
        let stranger = Stranger::empty();
        MODULES.iter().for_each(|name| stranger.put_module(name));
        PROGRAMS.iter().for_each(|name| stranger.put_program(name));
        for (name, text) in SETTINGS {
            stranger.put(name, text);
        }
        stranger.put_pip_settings();
        stranger
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let place = self.folder.path().join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, text).unwrap();
        place
    }

    fn mark(&self, name: &str) -> PathBuf {
        self.marks.path().join(name.replace('/', "-"))
    }

    /// While `encodings` is imported there is no `open` yet.
    fn put_module(&self, name: &str) {
        let mark = self.mark(name);
        self.put(name, &format!("import posix\nposix.close(posix.open({mark:?}, posix.O_WRONLY | posix.O_CREAT))\n"));
    }

    fn put_program(&self, name: &str) {
        let place = self.put(name, &format!("#!/bin/sh\n: > {}\n", self.mark(name).display()));
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// pip writes a log where its settings say.
    fn put_pip_settings(&self) {
        self.put("pip.conf", &format!("[global]\nlog = {}\n", self.mark("pip.conf").display()));
    }

    fn marks(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.marks.path()).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// The program, started here by an operator whose paths mean the current folder too.
    fn run(&self, args: &[&str]) -> Output {
        let mut path = OsString::from(".::");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null()).env("PATH", path);
        command.env("PYTHONPATH", ".:").env("PYTHONSTARTUP", "json.py").env("PIP_CONFIG_FILE", "pip.conf");
        command.env_remove("SKILLWARE_SKILL_PATH").output().unwrap()
    }
}

fn nothing() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("skills-compat/demo/nothing").display().to_string()
}

/// A skill that takes a package, so that pip is asked.
fn with_a_requirement(folder: &Path) -> String {
    let skill = folder.join("wants");
    std::fs::create_dir(&skill).unwrap();
    std::fs::copy(Path::new(&nothing()).join("skill.py"), skill.join("skill.py")).unwrap();
    let manifest = "name: demo/wants\nversion: 0.1.0\nrequirements: [skillcell-has-no-such-package]\n";
    std::fs::write(skill.join("manifest.yaml"), manifest).unwrap();
    skill.display().to_string()
}

pub fn no_verb_runs_what_is_in_the_folder_that_it_is_started_in() {
    let elsewhere = tempfile::tempdir().unwrap();
    let (nothing, wants) = (nothing(), with_a_requirement(elsewhere.path()));
    let registry = elsewhere.path().display().to_string();
    let verbs: [&[&str]; 11] = [
        &["doctor"],
        &["run", &nothing],
        &["run", &nothing, "--tier", "subprocess"],
        &["inspect", &nothing],
        &["lock", &wants, "--offline"],
        &["run", &wants, "--offline"],
        &["build", &nothing],
        &["test", &nothing],
        &["bench", &nothing, "--calls", "1", "--trust-remote-code"],
        &["runtime", "install", "--offline"],
        &["matrix", &registry, "--offline", "--json", "--no-latency", "--pyodide", "--trust-remote-code"],
    ];
    let wrong: Vec<String> = verbs.iter().filter_map(|verb| what_differs(verb)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What a verb does in a stranger's folder that it does not do in an empty one.
fn what_differs(verb: &[&str]) -> Option<String> {
    let (plain, hostile) = (Stranger::empty(), Stranger::with_everything());
    let (expected, ended) = (plain.run(verb), hostile.run(verb));
    let marks = hostile.marks();
    let said = || String::from_utf8_lossy(&ended.stderr).into_owned();
    if !marks.is_empty() {
        return Some(format!("{verb:?} runs what is there: {marks:?}\n{}", said()));
    }
    (ended.status != expected.status)
        .then(|| format!("{verb:?} ends with {}, not {}: {}", ended.status, expected.status, said()))
}

/// Some modules of the standard library are frozen into a Python since 3.11; a debugger, say, takes those from files again.
pub fn each_bait_bites_when_it_is_run_on_purpose() {
    for name in MODULES {
        let stranger = Stranger::empty();
        stranger.put_module(name);
        let module = name.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
        let mut python = Command::new("python3");
        let _ = python
            .args(["-X", "frozen_modules=off", "-c", &format!("import {module}")])
            .env("PYTHONPATH", stranger.folder.path())
            .current_dir(stranger.folder.path())
            .output()
            .unwrap();
        assert_eq!(stranger.marks().len(), 1, "{name}");
    }
    for name in PROGRAMS {
        let stranger = Stranger::empty();
        stranger.put_program(name);
        let mut shell = Command::new("/bin/sh");
        let ran = shell.args(["-c", name]).env("PATH", ".").current_dir(stranger.folder.path()).output().unwrap();
        assert!(ran.status.success() && stranger.marks() == [name], "{name}: {ran:?}");
    }
    let stranger = Stranger::empty();
    stranger.put_pip_settings();
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "list"]).env("PIP_CONFIG_FILE", "pip.conf").current_dir(stranger.folder.path());
    assert!(pip.output().unwrap().status.success() && stranger.marks() == ["pip.conf"]);
    let stranger = Stranger::with_everything();
    let asked = stranger.run(&["run", &nothing(), "--policy", "skillcell.toml"]);
    assert!(String::from_utf8_lossy(&asked.stderr).contains("no_such_key"), "{asked:?}");
}

pub fn a_folder_that_stands_in_for_the_registry_is_named() {
    let stranger = Stranger::empty();
    let id = "optimization/prompt_rewriter";
    std::fs::create_dir_all(stranger.folder.path().join("skills").join(id)).unwrap();
    let skill = std::fs::read_to_string(Path::new(&nothing()).join("skill.py")).unwrap();
    stranger.put(&format!("skills/{id}/skill.py"), &skill);
    stranger.put(&format!("skills/{id}/manifest.yaml"), "name: optimization/prompt_rewriter\nversion: 0.1.0\n");
    let said = |args: &[&str], stranger: &Stranger| String::from_utf8(stranger.run(args).stderr).unwrap();
    for verb in ["run", "inspect", "build"] {
        let warned = said(&[verb, id, "--quiet"], &stranger);
        let place = stranger.folder.path().canonicalize().unwrap().join("skills").join(id);
        assert!(warned.contains(&format!("is the folder `{}`", place.display())), "{verb}: {warned}");
        assert!(warned.contains("not the skill of the pinned registry"), "{verb}: {warned}");
    }
    let own = said(&["inspect", id, "--quiet"], &Stranger::empty());
    assert!(!own.contains("is the folder"), "{own}");
}
