//! Promise: a script of a skill's folder runs in a cell as `python3 scripts/x.py` would: its arguments, input, folder, streams, files
//! and exit code are its own, nothing of a run is left for the next, and what is ours says so with codes that scripts don't use.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::common::{HOST, call, fixture, sandbox_choice, tests};
use serde_json::Value;
use skillcell::{Call, Choice, LimitKind, NoteKind, Outcome, Report, Session, Skill, Tier};
use skillcell_host::entry::Input;

const REPORT: &str = "scripts/report.py";

fn plain() -> Skill {
    fixture("script/plain")
}

fn script(path: &str, args: &[&str]) -> Call {
    Call::script(path, args.iter().map(|arg| (*arg).to_owned()))
}

fn harm(what: &str, change: impl FnOnce(&mut Call)) -> Report {
    let mut made = script("scripts/harm.py", &[what]);
    change(&mut made);
    let report = call(&fixture("script/hostile"), &made);
    // Whatever became of it, the next run finds everything as it was.
    let next = call(&fixture("script/hostile"), &script("scripts/harm.py", &["nothing"]));
    assert_eq!(text(&next.stdout), "['SKILL.md', 'scripts'] ['harm.py']\n", "{}", text(&next.stderr));
    report
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.args(args).stdin(Stdio::null());
    command
}

fn folder_of(path: &str) -> PathBuf {
    tests().join("skills").join(path)
}

#[test]
fn a_script_finds_itself_its_folder_and_its_modules() {
    let report = call(&plain(), &script(REPORT, &["grüße", "--end", "0"]));
    let said: Value = serde_json::from_slice(&report.stdout).unwrap_or_else(|_| panic!("{}", text(&report.stderr)));
    let expected = serde_json::json!({
        "argv": ["scripts/report.py", "grüße", "--end", "0"],
        "file": "/skills/plain/scripts/report.py",
        "name": "__main__",
        "spec": null,
        "cwd": "/skills/plain",
        "first_on_path": "/skills/plain/scripts",
        "shouted": ["GRÜSSE"],
        "root": "from the root",
        "asset": ["one", "two"],
        "beside_file": true,
        "sibling_is_fresh": true,
        "pickled": true,
    });
    assert_eq!(said, expected);
    assert_eq!((report.exit_code, text(&report.stderr).as_str()), (Some(0), ""));
    assert!(matches!(&report.outcome, Outcome::Returned(json) if json.get() == "null"));
}

#[test]
fn its_usage_is_what_python_prints() {
    let ours =
        program(&["script", folder_of("script/plain").to_str().unwrap(), REPORT, "--", "--help"]).output().unwrap();
    assert_eq!((ours.status.code(), text(&ours.stderr).as_str()), (Some(0), ""));
    assert!(text(&ours.stdout).starts_with("usage: report.py [-h] [--end {0,3,text,none,raise,os}] [words ...]\n"));
    let wrong =
        program(&["script", folder_of("script/plain").to_str().unwrap(), REPORT, "--", "--end", "x"]).output().unwrap();
    assert_eq!((wrong.status.code(), text(&wrong.stdout).as_str()), (Some(2), ""));
    assert!(text(&wrong.stderr).starts_with("usage: report.py"), "{}", text(&wrong.stderr));
}

#[test]
fn each_way_to_end_has_its_exit_code() {
    for (end, code, said) in [("0", 0, ""), ("3", 3, ""), ("text", 1, "that was all\n"), ("none", 0, ""), ("os", 5, "")]
    {
        let report = call(&plain(), &script(REPORT, &["--end", end]));
        assert_eq!((report.exit_code, text(&report.stderr).as_str()), (Some(code), said), "{end}");
        assert_eq!(report.outcome.name(), if code == 0 { "returned" } else { "raised" }, "{end}");
    }
    let report = call(&plain(), &script(REPORT, &["--end", "raise"]));
    let (told, raised) = (text(&report.stderr), report.outcome.raised().unwrap());
    assert_eq!((report.exit_code, raised.kind.as_str()), (Some(1), "ValueError"));
    assert!(
        told.starts_with("Traceback (most recent call last):\n  File \"/skills/plain/scripts/report.py\", line "),
        "{told}"
    );
    assert!(told.ends_with("ValueError: nothing is well: ü\n") && !told.contains("skillcell"), "{told}");
}

#[test]
fn what_it_wrote_is_given_back_and_what_it_was_given_is_there() {
    let mut made = script("scripts/files.py", &[]);
    let entry = made.script_mut().unwrap();
    entry.stdin = Input::Bytes(b"a,b\n1,\xc3\xa9\n".to_vec().into());
    entry.files = vec![("given.txt".to_owned(), Arc::from(&b"given\n"[..]))];
    for _ in 0..2 {
        let report = call(&plain(), &made);
        assert_eq!(report.exit_code, Some(0), "{}", text(&report.stderr));
        assert_eq!(report.stdout, b"given\n\xff\x00\n");
        let files: Vec<(&str, usize)> = report.files.iter().map(|file| (&*file.path, file.bytes.len())).collect();
        let moved = plain().files().iter().find(|(path, _)| path == "SKILL.md").unwrap().1 as usize;
        let expected =
            [("MOVED.md", moved), ("assets/words.txt", 7), ("out/deep/bytes.bin", 256), ("out/rows.txt", 25)];
        assert_eq!(files, expected);
        assert_eq!(report.files[3].bytes, "[['a', 'b'], ['1', 'é']]".as_bytes());
    }
}

#[test]
fn a_file_laid_outside_of_its_folder_is_an_error() {
    for path in ["../x", "/etc/x", "a/../../x", "", "assets"] {
        let mut made = script(REPORT, &[]);
        made.script_mut().unwrap().files = vec![(path.to_owned(), Arc::from(&b""[..]))];
        assert!(HOST.call(&plain(), &made).is_err(), "{path:?}");
    }
}

#[test]
fn tables_and_pictures_are_read_and_written() {
    let mut made = script("scripts/table.py", &[]);
    made.script_mut().unwrap().files = vec![("table.csv".to_owned(), Arc::from(&b"a,b\n1,2\n3,4\n"[..]))];
    let report = call(&plain(), &made);
    assert_eq!(text(&report.stdout), "{\"sum\": 4, \"size\": [4, 2]}\n", "{}", text(&report.stderr));
    assert_eq!(report.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["described.csv", "dot.png"]);
    let guess =
        report.notes.iter().find(|note| note.kind == NoteKind::GuessedPackages).expect("it is named as a guess");
    assert_eq!(guess.subject, "pandas, pillow");
}

#[test]
fn what_python_says_and_does_around_a_script_is_said_and_done_each_time() {
    for _ in 0..2 {
        let report = call(&plain(), &script("scripts/warns.py", &[]));
        assert_eq!(text(&report.stdout), "\\d\nat the end\n");
        assert!(text(&report.stderr).contains("SyntaxWarning"), "{}", text(&report.stderr));
        let broken = call(&plain(), &script("scripts/broken.py", &[]));
        assert!(
            text(&broken.stderr).starts_with("  File \"/skills/plain/scripts/broken.py\", line 1\n"),
            "{}",
            text(&broken.stderr)
        );
        assert_eq!((broken.exit_code, broken.outcome.raised().unwrap().kind.as_str()), (Some(1), "SyntaxError"));
    }
}

#[test]
fn with_and_without_an_image_it_is_the_same() {
    let mut made = script(REPORT, &["x", "--end", "3"]);
    let with = call(&plain(), &made);
    made.use_image = false;
    let without = call(&plain(), &made);
    assert_eq!((with.stdout, with.exit_code), (without.stdout, without.exit_code));
    assert!(with.image.is_some() && without.image.is_none());
}

#[test]
fn a_script_that_hangs_or_waits_for_input_ends_at_its_deadline() {
    for what in ["hang", "wait"] {
        let report = harm(what, |call| {
            call.limits.deadline = Duration::from_secs(1);
            call.script_mut().unwrap().stdin = Input::Stream(Arc::new(Silence));
        });
        assert!(matches!(report.outcome, Outcome::Exceeded(LimitKind::Deadline, _)), "{what}: {:?}", report.outcome);
        assert_eq!(report.exit_code, None);
    }
}

struct Silence;

impl skillcell_host::entry::InputStream for Silence {
    fn read(&self, _: &mut [u8], wait: Duration) -> std::io::Result<Option<usize>> {
        std::thread::sleep(wait);
        Ok(None)
    }

    fn is_terminal(&self) -> bool {
        false
    }
}

#[test]
fn a_script_that_floods_or_fills_its_folder_meets_a_limit() {
    let cases =
        [("flood", LimitKind::StdoutBytes), ("many", LimitKind::ScratchFiles), ("large", LimitKind::ScratchBytes)];
    for (what, limit) in cases {
        let report = harm(what, |_| ());
        assert!(matches!(report.outcome, Outcome::Exceeded(met, _) if met == limit), "{what}: {:?}", report.outcome);
        assert!(report.stdout.len() <= 1 << 20 && report.files.len() <= 4096);
    }
}

#[test]
fn ten_thousand_files_are_written_where_that_is_granted() {
    let report = harm("many", |call| call.limits.scratch_files = 10_000);
    assert_eq!((report.exit_code, report.files.len()), (Some(0), 10_000), "{}", text(&report.stderr));
}

#[test]
fn a_script_has_no_processes_and_no_files_of_the_host_and_leaves_nothing_behind() {
    for (what, words) in
        [("fork", "AttributeError"), ("program", "'git'"), ("climb", "FileNotFoundError"), ("wipe", "OSError")]
    {
        let report = harm(what, |_| ());
        assert_eq!(report.exit_code, Some(1), "{what}");
        assert!(text(&report.stderr).contains(words), "{what}: {}", text(&report.stderr));
    }
    assert_eq!(harm("poison", |_| ()).exit_code, Some(0));
}

#[test]
fn the_program_has_the_scripts_streams_files_and_code() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("given.txt"), "from the shell\n").unwrap();
    let (given, out) = (place.path().join("given.txt"), place.path().join("out"));
    let folder = folder_of("script/plain");
    let args = [
        "script",
        folder.to_str().unwrap(),
        "scripts/files.py",
        "--in",
        given.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ];
    let mut started =
        program(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    started.stdin.take().unwrap().write_all(b"x,y\n").unwrap();
    let ended = started.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), text(&ended.stderr).as_str()), (Some(0), ""));
    assert_eq!(ended.stdout, b"from the shell\n\xff\x00\n");
    assert_eq!(fs::read_to_string(out.join("out/rows.txt")).unwrap(), "[['x', 'y']]");
    assert!(out.join("MOVED.md").is_file() && folder.join("SKILL.md").is_file() && !folder.join("out").exists());
}

#[test]
fn what_is_ours_has_codes_that_scripts_do_not_use() {
    let hostile = folder_of("script/hostile");
    let hostile = hostile.to_str().unwrap();
    let coded: [(&[&str], i32, &str); 6] = [
        (&["script", hostile, "scripts/harm.py", "--timeout", "1", "--", "hang"], 124, "--timeout"),
        (&["script", hostile, "scripts/nothing.py"], 125, "no file"),
        (&["script", "./no/such/folder", "x.py"], 125, "there is no skill"),
        (&["script", hostile, "scripts/harm.py", "--no-such-flag"], 125, "unexpected argument"),
        (&["script", hostile, "scripts/harm.py", "--tier", "container", "--", "nothing"], 126, "not in `container`"),
        (&["run", hostile], 2, "skillcell script"),
    ];
    for (args, code, words) in coded {
        let ended = program(args).output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{args:?}: {}", text(&ended.stderr));
        assert!(text(&ended.stderr).contains(words), "{args:?}: {}", text(&ended.stderr));
    }
}

#[test]
fn the_envelope_has_the_exit_code_and_the_files() {
    let folder = folder_of("script/plain");
    let ended = program(&["script", folder.to_str().unwrap(), "scripts/files.py", "--json"]).output().unwrap();
    let envelope: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(
        (&envelope["schema"], &envelope["exit_code"], &envelope["outcome"]),
        (&1.into(), &0.into(), &"returned".into())
    );
    assert_eq!(envelope["files"][2], serde_json::json!({"path": "out/deep/bytes.bin", "bytes": 256}));
    let ended = program(&["script", folder.to_str().unwrap(), REPORT, "--json", "--", "--end", "3"]).output().unwrap();
    let envelope: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((&envelope["exit_code"], &envelope["error"]["exit_code"]), (&3.into(), &3.into()));
    assert_eq!(ended.status.code(), Some(3));
}

#[test]
fn code_and_files_of_nobody_run_in_a_cell_too() {
    let said = |args: &[&str]| {
        let ended = program(args).output().unwrap();
        (ended.status.code().unwrap(), text(&ended.stdout), text(&ended.stderr))
    };
    let (code, stdout, _) = said(&["python", "-c", "import sys; print(sys.argv, __name__); sys.exit(4)", "--", "ä"]);
    assert_eq!((code, stdout.as_str()), (4, "['-c', 'ä'] __main__\n"));
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("made by a model.py");
    fs::write(&file, "import sys\nopen('x', 'w').write(sys.argv[0])\nraise KeyError(__file__)\n").unwrap();
    fs::write(place.path().join("secret.txt"), "not for it").unwrap();
    let out = place.path().join("out");
    let (code, _, stderr) = said(&["python", file.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!((code, fs::read_to_string(out.join("x")).unwrap().as_str()), (1, "made by a model.py"));
    assert!(stderr.contains("line 3, in <module>\n    raise KeyError(__file__)"), "{stderr}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing of the program's folder is in the cell");
}

#[test]
fn programs_that_import_the_same_share_an_image() {
    let run = |code: &str| {
        let skill = HOST.program(None, code.as_bytes()).unwrap();
        call(&skill, &Call::default().with_code(code, []))
    };
    let (one, other) = (run("import json, re\nprint(1)"), run("import re\ndef f():\n    import json\nprint(2)"));
    assert_eq!((text(&one.stdout).as_str(), text(&other.stdout).as_str()), ("1\n", "2\n"));
    assert_eq!(one.image.unwrap().key, other.image.unwrap().key);
}

#[test]
fn in_a_session_code_goes_on_where_it_was() {
    let skill = HOST.program(None, b"").unwrap();
    let session = Session::new(skillcell::SessionLimits::default());
    let run = |code: &str| {
        let mut made = Call::default().with_code(code, []);
        made.session = Some(session.clone());
        call(&skill, &made)
    };
    assert_eq!(run("x = 41\nopen('kept', 'w').write('file')").exit_code, Some(0));
    assert_eq!(run("raise SystemExit(2)").exit_code, Some(2));
    assert_eq!(text(&run("print(x + 1, open('kept').read())").stdout), "42 file\n");
}

#[test]
fn in_the_tier_subprocess_it_is_the_same() {
    if skillcell_tiers::available(Tier::Subprocess, sandbox_choice()).is_err() {
        eprintln!("not run: this machine has no `subprocess`");
        return;
    }
    let mut made = script("scripts/files.py", &[]);
    made.tier = Choice::Tier(Tier::Subprocess);
    made.script_mut().unwrap().stdin = Input::Bytes(b"a,b\n".to_vec().into());
    let report = call(&plain(), &made);
    assert_eq!((report.exit_code, report.stdout.as_slice()), (Some(0), &b"\xff\x00\n"[..]), "{}", text(&report.stderr));
    let paths: Vec<&str> = report.files.iter().map(|file| &*file.path).collect();
    assert_eq!(paths, ["MOVED.md", "assets/words.txt", "out/deep/bytes.bin", "out/rows.txt"]);
    for (end, code) in [("3", 3), ("os", 5), ("raise", 1)] {
        let mut made = script(REPORT, &["--end", end]);
        made.tier = Choice::Tier(Tier::Subprocess);
        assert_eq!(call(&plain(), &made).exit_code, Some(code), "{end}");
    }
}

#[test]
fn inspect_has_a_row_for_each_script_and_a_verdict_for_the_skill() {
    let inspected = |folder: &str| -> Value {
        let ended = program(&["inspect", folder_of(folder).to_str().unwrap(), "--json"]).output().unwrap();
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", text(&ended.stderr)))
    };
    let plain = inspected("script/plain");
    let verdicts: Vec<(&str, &str)> = plain["scripts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["script"].as_str().unwrap(), one["verdict"].as_str().unwrap()))
        .collect();
    for (script, verdict) in &verdicts {
        // Its folder is one that a script may write in; only the one that is not Python runs nowhere.
        assert_eq!(*verdict == "not in wasm", *script == "scripts/broken.py", "{script}: {verdict}");
    }
    assert_eq!(plain["frontmatter"]["allowed-tools"], "Bash(*)");
    assert!(plain["frontmatter"]["description"].as_str().unwrap().starts_with("Reports on words: a description"));
    let hostile = inspected("script/hostile");
    assert_ne!(hostile["verdict"], "runs", "it starts `git`");
    assert!(
        hostile["scripts"][0]["reasons"].to_string().contains("subprocess.run"),
        "{}",
        hostile["scripts"][0]["reasons"]
    );
    let said = program(&["inspect", folder_of("script/plain").to_str().unwrap()]).output().unwrap();
    assert!(text(&said.stdout).contains("pandas pillow (guessed)"), "{}", text(&said.stdout));
}

#[test]
fn packages_are_those_of_a_pep_723_block_else_of_the_folders_files() {
    let place = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        fs::create_dir_all(place.path().join(path).parent().unwrap()).unwrap();
        fs::write(place.path().join(path), text).unwrap();
    };
    let required = || {
        let skill = Skill::from_any_folder(place.path()).unwrap();
        let manifest = HOST.manifest(&skill.for_script("scripts/a.py").unwrap()).unwrap();
        (manifest.requirements.clone(), manifest.raw()["requirements_from"].as_str().unwrap().to_owned())
    };
    write("scripts/a.py", "import yaml, b, json\ndef f():\n    import requests.sessions\n");
    write("scripts/b.py", "from PIL import Image\n");
    assert_eq!(required(), (vec!["PyYAML".into(), "pillow".into(), "requests".into()], "imports".into()));
    write("pyproject.toml", "[project]\nname = 'x'\ndependencies = ['click>=8', 'rich']\n");
    assert_eq!(required(), (vec!["click>=8".into(), "rich".into()], "pyproject.toml".into()));
    write("requirements.txt", "# all of it\nclick==8.1 # pinned\n-r other.txt\n--index-url http://127.0.0.1/\n");
    assert_eq!(required(), (vec!["click==8.1".into()], "requirements.txt".into()));
    write("scripts/a.py", "# /// script\n# dependencies = [\n#   'typer',\n# ]\n# ///\nimport typer\n");
    assert_eq!(required(), (vec!["typer".into()], "scripts/a.py".into()));
    write("skillcell.toml", "requirements = ['attrs']\n[permissions]\nnetwork = []\n");
    assert_eq!(required(), (vec!["attrs".into()], "skillcell.toml".into()));
    write("skillcell.toml", "requirements = [");
    let skill = Skill::from_any_folder(place.path()).unwrap();
    let refused = call(&skill, &script("scripts/a.py", &[]));
    assert!(!matches!(refused.outcome, Outcome::Returned(_)), "what an author asks for can't be read");
}

#[test]
fn every_script_is_run() {
    let source = include_str!("script.rs");
    for folder in ["plain", "hostile"] {
        for entry in fs::read_dir(Path::new(&folder_of("script")).join(folder).join("scripts")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_module = matches!(name.as_str(), "tools" | "beside.py");
            assert!(is_module || source.contains(&format!("scripts/{name}\"")), "no test runs `{name}`");
        }
    }
}
