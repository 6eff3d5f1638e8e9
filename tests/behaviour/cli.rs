//! Promise: what a newcomer types works. The commands of the quick start and of the README as they are written, a new skill,
//! the list, completions and manual pages; and a wrong path is said before anything is fetched or made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::ran::{Ran, finish};
use serde_json::Value;
use tempfile::TempDir;

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_skillcell"))
}

fn document(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn skillcell(args: &[&str], within: &Path) -> Ran {
    let mut command = Command::new(program());
    finish(command.args(args).current_dir(within).env_remove("SKILLWARE_SKILL_PATH").stdin(Stdio::null()))
}

/// The blocks of a document, each with what kind it is.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((kind.to_owned(), inside.join("\n")));
        }
    }
    blocks
}

/// The commands of a document, in their order.
fn commands(text: &str) -> Vec<String> {
    let shell = |(kind, text): (String, String)| matches!(kind.as_str(), "sh" | "console").then_some(text);
    let text = blocks(text).into_iter().filter_map(shell).collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    text.lines().map(|line| line.strip_prefix("$ ").unwrap_or(line).to_owned()).collect()
}

/// Where a reader tries things: `skillcell` is in the `PATH`, and what the text takes for granted is there.
struct Desk {
    folder: TempDir,
    tiers: Vec<String>,
}

impl Desk {
    fn new() -> Desk {
        let folder = folder();
        for path in ["wheels", "my-skills", "target/release"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        skillcell(&["new", "my-skills/office/greeter"], folder.path()).is(0, &["wrote the skill"]);
        std::os::unix::fs::symlink(program(), folder.path().join("target/release/skillcell")).unwrap();
        let checks = skillcell(&["doctor", "--json"], folder.path()).json();
        let is_tier = |check: &&Value| check["state"] == "ok";
        let names = checks["checks"].as_array().unwrap().iter().filter(is_tier);
        let tiers = names.filter_map(|check| check["check"].as_str()?.strip_prefix("tier ").map(str::to_owned));
        Desk { tiers: tiers.collect(), folder }
    }

    /// Why a command is not for a test, if it is not.
    fn passed_over(&self, command: &str) -> Option<&'static str> {
        let named = command.split("--tier ").nth(1).and_then(|rest| rest.split_whitespace().next());
        match command {
            _ if command.trim().is_empty() || command.starts_with('{') => Some("it is no command"),
            _ if command.starts_with("cargo build") => Some("it built this program"),
            _ if command.contains("pip download") => Some("it downloads 100 MB; its versions have a test"),
            _ if named.is_some_and(|tier| !self.tiers.iter().any(|one| one == tier)) => Some("no such tier here"),
            _ => None,
        }
    }

    fn run(&self, command: &str) -> Ran {
        let command = command.replace("cargo run --release --", "skillcell");
        let mut shell = Command::new("bash");
        shell.args(["-euo", "pipefail", "-c", &command]).current_dir(self.folder.path()).stdin(Stdio::null());
        let paths = [program().parent().unwrap().to_owned()].into_iter();
        let paths = std::env::join_paths(paths.chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())));
        shell.env("PATH", paths.unwrap()).env("API_KEY", "not-a-key").env_remove("SKILLWARE_SKILL_PATH");
        shell.env("SKILLCELL_APPROVALS_DIR", self.folder.path().join("approvals"));
        // Whoever runs the tests keeps the cache.
        if command.contains("cache clean") || command.contains("runtime remove") {
            shell.env("SKILLCELL_CACHE_DIR", self.folder.path().join("other-cache"));
        }
        finish(&mut shell)
    }

    /// Runs all that can be, and gives how many that were.
    fn run_all(&self, text: &str) -> usize {
        let mut count = 0;
        for command in commands(text) {
            if self.passed_over(&command).is_none() {
                let ran = self.run(&command);
                assert_eq!(ran.code, 0, "`{command}`\n{}{}", ran.stdout, ran.stderr);
                count += 1;
            }
        }
        count
    }
}

#[test]
fn the_commands_of_the_quick_start_and_of_the_readme_work_as_written() {
    let quick_start = document("docs/quick-start.md");
    let count = Desk::new().run_all(&quick_start);
    assert!(count >= 25, "only {count} commands of the quick start were run");
    let readme = document("README.md");
    let desk = Desk::new();
    let count = desk.run_all(&readme);
    assert!(count >= 4, "only {count} commands of the README were run");
    // The first gives what stands below it.
    let (_, promised) = blocks(&readme).into_iter().find(|(kind, _)| kind == "json").unwrap();
    assert_eq!(desk.run(&commands(&readme)[0]).stdout.trim(), promised);
}

#[test]
fn the_wheels_to_bring_to_a_machine_without_an_index_are_the_pinned_ones() {
    let text = commands(&document("docs/quick-start.md"));
    let command = text.iter().find(|command| command.contains("pip download")).unwrap();
    let mut named: Vec<String> =
        command.split_whitespace().filter(|word| word.contains("==")).map(str::to_owned).collect();
    let pins: toml::Table = document("runtime-assets/pins.toml").parse().unwrap();
    let runtimes = pins["runtime"].as_table().unwrap().values();
    let pinned = runtimes.chain(pins["package"].as_array().unwrap());
    let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
    let mut pinned: Vec<String> =
        pinned.map(|pin| format!("{}=={}", text(&pin["name"]), text(&pin["version"]))).collect();
    named.sort();
    pinned.sort();
    assert_eq!(named, pinned);
}

#[test]
fn a_new_skill_passes_its_tests_and_runs_whatever_its_folder_is_called() {
    let desk = folder();
    for name in ["my_skill", "Mail Sorter-2!", "9", "base_skill", "skills/office/none"] {
        let made = skillcell(&["new", name], desk.path());
        made.is(0, &["skillcell test ", "skillcell run "]);
        assert_eq!(made.stdout, "");
        // As it was printed.
        for line in made.stderr.lines().filter_map(|line| line.strip_prefix("  skillcell ")) {
            let mut shell = Command::new("bash");
            let ran = finish(shell.args(["-c", &format!("{} {line}", program().display())]).current_dir(desk.path()));
            let words = if line.starts_with("test") { "3 passed" } else { "" };
            ran.is(0, &[words]);
            if line.starts_with("run") {
                assert_eq!(ran.stdout, "{\"greeting\":\"Hello, world!\"}\n");
            }
        }
    }
}

#[test]
fn a_new_skill_never_takes_the_place_of_something() {
    let desk = folder();
    fs::create_dir(desk.path().join("empty")).unwrap();
    skillcell(&["new", "empty"], desk.path()).is(0, &[]);
    fs::write(desk.path().join("empty/skill.py"), "mine").unwrap();
    skillcell(&["new", "empty"], desk.path()).is_error("is not empty");
    assert_eq!(fs::read_to_string(desk.path().join("empty/skill.py")).unwrap(), "mine");
    fs::write(desk.path().join("file"), "").unwrap();
    skillcell(&["new", "file"], desk.path()).is_error("is no folder");
    skillcell(&["new", "file/below"], desk.path()).is_error("can't make the folder");
    skillcell(&["new", "/"], desk.path()).is_error("is no name for a skill");
}

fn listed<'a>(list: &'a Value, id: &str) -> Vec<&'a Value> {
    list["skills"].as_array().unwrap().iter().filter(|skill| skill["skill"] == id).collect()
}

#[test]
fn a_list_has_what_would_be_found_with_verdict_and_image() {
    let desk = folder();
    // Its name makes it another skill than those of other runs of this test.
    let name = format!("office/s{}", desk.path().file_name().unwrap().to_str().unwrap().trim_start_matches('.'));
    let path = format!("skills/{name}");
    skillcell(&["new", &path], desk.path()).is(0, &[]);
    // It hides the registry's skill of that id.
    skillcell(&["new", "skills/optimization/prompt_rewriter"], desk.path()).is(0, &[]);
    let before = skillcell(&["list", "--json"], desk.path()).json();
    let [skill] = listed(&before, &name)[..] else { panic!("{before}") };
    assert_eq!(
        (&skill["verdict"], &skill["baked"], &skill["error"]),
        (&Value::Null, &Value::Bool(false), &Value::Null)
    );
    assert!(skill["origin"]["folder"].as_str().unwrap().ends_with(&path), "{skill}");
    let [hiding] = listed(&before, "optimization/prompt_rewriter")[..] else { panic!("listed once") };
    assert!(hiding["origin"]["folder"].is_string());
    assert_eq!(listed(&before, "office/gmail_handler")[0]["origin"], "registry");

    skillcell(&["build", &name], desk.path()).is(0, &["baked"]);
    skillcell(&["list", "--verdicts", "office/s*"], desk.path()).is(0, &["runs", "baked", "./skills"]);
    let after = skillcell(&["list", "--json", "office/s*"], desk.path()).json();
    assert_eq!(after["skills"].as_array().unwrap().len(), 1, "{after}");
    assert_eq!((&after["skills"][0]["verdict"], &after["skills"][0]["baked"]), (&"runs".into(), &true.into()));
    // Both are of what it was.
    fs::write(desk.path().join(&path).join("notes.txt"), "changed").unwrap();
    let changed = skillcell(&["list", "--json", "office/s*"], desk.path()).json();
    assert_eq!((&changed["skills"][0]["verdict"], &changed["skills"][0]["baked"]), (&Value::Null, &false.into()));
}

#[test]
fn a_list_without_a_registry_has_the_folders_skills_and_makes_nothing() {
    let (desk, cache) = (folder(), folder());
    let flags = ["--offline", "--cache-dir", cache.path().to_str().unwrap()];
    skillcell(&[&["list"], &flags[..]].concat(), desk.path()).is_error("skillware");
    skillcell(&["new", "skills/mine"], desk.path()).is(0, &[]);
    fs::create_dir_all(desk.path().join("skills/odd/skill.py.d")).unwrap();
    std::os::unix::fs::symlink("/etc", desk.path().join("skills/mine/out")).unwrap();
    let ran = skillcell(&[&["list"], &flags[..]].concat(), desk.path());
    ran.is(0, &["mine", "unreadable", "the registry's skills are not listed"]);
    assert!(!ran.stderr.contains("compiling"), "{}", ran.stderr);
}

#[test]
fn completions_and_pages_are_those_of_the_commands() {
    let desk = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = skillcell(&["completions", shell], desk.path());
        script.is(0, &["allow-http", "doctor", "completions"]);
        assert_eq!(script.stderr, "");
    }
    // A shell that reads the script offers what there is.
    let offered = "source <(\"$0\" completions bash); COMP_WORDS=(skillcell ca); COMP_CWORD=1; \
                   _skillcell skillcell ca skillcell; echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    finish(bash.args(["-c", offered]).arg(program())).is(0, &["cache"]);
    skillcell(&["man", "cache", "clean"], desk.path()).is(0, &[".TH skillcell-cache-clean 1", "unused\\-for"]);
    skillcell(&["man", "nonsense"], desk.path()).is_error("there is no command `nonsense`");
    skillcell(&["man", "--out", "pages"], desk.path()).is(0, &[]);
    let pages: Vec<PathBuf> =
        fs::read_dir(desk.path().join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    for name in ["skillcell.1", "skillcell-run.1", "skillcell-runtime-verify.1", "skillcell-man.1"] {
        assert!(pages.iter().any(|page| page.ends_with(name)), "no {name} in {pages:?}");
    }
    assert!(pages.iter().all(|page| fs::read_to_string(page).unwrap().contains(".SH EXAMPLES\n.nf\n")), "{pages:?}");
    assert!(pages.iter().all(|page| !fs::read_to_string(page).unwrap().contains(".SH EXTRA")), "{pages:?}");
}

/// With an empty cache and no Python, whatever comes later fails for another reason.
#[test]
fn a_path_that_leads_nowhere_is_said_before_anything_is_done() {
    let desk = folder();
    skillcell(&["new", "skill"], desk.path()).is(0, &[]);
    fs::write(desk.path().join("no.pem"), "no certificate").unwrap();
    let cases: [(&[&str], &str); 19] = [
        (&["run", "skill", "--ca-file", "gone.pem"], "gone.pem"),
        (&["run", "skill", "--ca-file", "no.pem"], "there is no certificate in it"),
        (&["run", "skill", "--params", "@gone.json"], "--params: `gone.json`"),
        (&["run", "skill", "--config", "@gone.json"], "--config: `gone.json`"),
        (&["run", "skill", "--policy", "gone.toml"], "the policy file `gone.toml`"),
        (&["run", "skill", "--audit", "gone/audit.jsonl"], "gone/audit.jsonl"),
        (&["run", "skill", "--mount", "gone:/data"], "the folder `gone` can't be mounted"),
        (&["run", "skill", "--mount", "no.pem:/data"], "the folder `no.pem` can't be mounted"),
        (&["run", "skill", "--secret", "KEY=file:gone@example.org"], "the secret `KEY` can't be read from `gone`"),
        (&["run", "skill", "--from-wheel", "gone"], "`gone`"),
        (&["test", "skill", "--ca-file", "gone.pem"], "gone.pem"),
        (&["test", "skill", "--policy", "gone.toml"], "gone.toml"),
        (&["test", "skill", "--audit", "gone/audit.jsonl"], "gone/audit.jsonl"),
        (&["test", "skill", "--mount", "gone:/data"], "`gone`"),
        (&["inspect", "skill", "--ca-file", "gone.pem"], "gone.pem"),
        (&["build", "skill", "--warm-up", "@gone.json"], "--warm-up: `gone.json`"),
        (&["bench", "skill", "--params", "@gone.json"], "--params: `gone.json`"),
        (&["lock", "skill", "--output", "gone/lock"], "--output: `gone/lock`"),
        (&["matrix", "gone"], "`gone`"),
    ];
    for (args, words) in cases {
        let mut command = Command::new(program());
        command.args(args).current_dir(desk.path()).stdin(Stdio::null()).env("SKILLCELL_PYTHON", "/nonexistent/python");
        let ran = finish(command.env("SKILLCELL_CACHE_DIR", desk.path().join("cache")));
        ran.is_error(words);
        assert!(!ran.stderr.contains("/nonexistent/python"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_check_of_the_doctor_is_a_line_in_a_pipe_and_has_colours_only_where_they_are_seen() {
    let desk = folder();
    let ran = skillcell(&["doctor"], desk.path());
    let rows = skillcell(&["doctor", "--json"], desk.path()).json()["checks"].as_array().unwrap().len();
    assert_eq!(ran.stdout.lines().count(), rows + 1, "{}", ran.stdout);
    assert!(!ran.stdout.contains('\x1b'));
    let mut coloured = Command::new(program());
    let coloured = finish(coloured.arg("doctor").env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR"));
    assert!(coloured.stdout.contains("\x1b[32mok\x1b[0m"), "{:?}", coloured.stdout);
}

/// What a document has between backticks, by word.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2))
}

#[test]
fn contributing_and_architecture_name_files_that_are_there_and_every_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src/", "crates/", "tests/", "docs/", "runtime-assets/", "scripts/", "examples/"];
    for name in ["CONTRIBUTING.md", "ARCHITECTURE.md"] {
        let text = document(name);
        let is_path = |word: &&str| !word.contains([' ', '<', '*']) && word.contains('/');
        let paths = named(&text).filter(is_path).filter(|word| folders.iter().any(|folder| word.starts_with(folder)));
        let gone: Vec<&str> = paths.filter(|path| !root.join(path).exists()).collect();
        assert!(gone.is_empty(), "{name} names files that are not there: {gone:?}");
    }
    let text = document("ARCHITECTURE.md");
    for entry in fs::read_dir(root.join("crates")).expect("there are crates") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        assert!(text.contains(&format!("\n| `{name}` |")), "ARCHITECTURE.md has no row for `{name}`");
    }
}

#[test]
fn the_module_graph_has_a_cycle_only_where_code_that_is_not_a_test_has_one() {
    let sources = folder();
    let write = |name: &str, text: &str| fs::write(sources.path().join(name), text).expect("written");
    let check = || {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/modules.py");
        finish(Command::new("python3").arg(script).arg("--check").arg(sources.path()))
    };
    write("lib.rs", "pub mod low;\npub mod high;\nmod private;\npub use high::{Other, Top};\n");
    write("high.rs", "use crate::{\n    low::{Deep, Deeper},\n};\n");
    write("low.rs", "// crate::high\nconst A: &str = \"crate::high\";\n#[cfg(test)]\nmod tests { use crate::high; }\n");
    let ran = check();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "low        -\nhigh       low\n\nno cycle\n"), "{}", ran.stderr);
    write("low.rs", "#[cfg(test)]\nmod tests;\nfn make() -> crate::Top {}\n");
    check().is(1, &["cycle: high low", "low uses high: low.rs"]);
}

/// Whether an SPDX expression holds with these licences: `OR` binds less than `AND`, as in the specification.
fn holds(expression: &str, allowed: &[String]) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    any_of(&mut words.as_slice(), allowed)
}

fn any_of(words: &mut &[&str], allowed: &[String]) -> bool {
    let mut holds = all_of(words, allowed);
    while let [word, rest @ ..] = *words
        && *word == "OR"
    {
        *words = rest;
        holds |= all_of(words, allowed);
    }
    holds
}

fn all_of(words: &mut &[&str], allowed: &[String]) -> bool {
    let mut holds = one(words, allowed);
    while let [word, rest @ ..] = *words
        && *word == "AND"
    {
        *words = rest;
        holds &= one(words, allowed);
    }
    holds
}

fn one(words: &mut &[&str], allowed: &[String]) -> bool {
    let (licence, rest): (String, &[&str]) = match **words {
        ["(", ref rest @ ..] => {
            *words = rest;
            let holds = any_of(words, allowed);
            *words = words.get(1..).unwrap_or_default();
            return holds;
        }
        [licence, "WITH", exception, ref rest @ ..] => (format!("{licence} WITH {exception}"), rest),
        [licence, ref rest @ ..] => (licence.to_owned(), rest),
        [] => return false,
    };
    *words = rest;
    allowed.contains(&licence)
}

#[test]
fn licences_are_read_as_spdx_says() {
    let allowed = ["MIT".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()];
    for held in
        ["MIT", "GPL-3.0 OR MIT", "X/MIT", "(GPL-3.0 OR MIT) AND MIT", "X AND Y OR Apache-2.0 WITH LLVM-exception"]
    {
        assert!(holds(held, &allowed), "{held}");
    }
    for not in ["Apache-2.0", "MIT AND GPL-3.0", "(MIT OR X) AND GPL-3.0", "MIT WITH X", ""] {
        assert!(!holds(not, &allowed), "{not}");
    }
}

/// What `cargo deny check licenses sources` would say; that program is not everywhere.
#[test]
fn every_dependency_has_a_licence_that_is_allowed_and_comes_from_the_default_registry() {
    let deny: toml::Table = document("deny.toml").parse().unwrap();
    let allowed = deny["licenses"]["allow"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned());
    let allowed: Vec<String> = allowed.collect();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.args(["--filter-platform", "x86_64-unknown-linux-gnu"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    for package in packages {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        assert!(holds(licence, &allowed), "{name}: `{licence}` is not allowed in deny.toml");
        let source = package["source"].as_str();
        assert!(source.is_none_or(|source| source.starts_with("registry+")), "{name} comes from {source:?}");
    }
}
