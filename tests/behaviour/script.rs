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
fn patterns_that_are_written_out_are_compiled_in_its_image() {
    let code = "import re, x\nknown = {(key[1], key[2]) for key in re._cache}\n\
                for one in [('own+', 2), ('beside+', 0), ('[[a]', 0), ('made' + str(1), 0)]:\n    print(one in known)\n\
                def f():\n    re.sub('own+', '', '', flags=re.I), re.match('made%d' % 1, '\\d')\nre.search('[[a]', '')\n";
    let files = [("scripts/a.py", code), ("scripts/x.py", "import re\nP = None and re.compile(r'beside+')\n")];
    for _ in 0..2 {
        let report = call(&made_of(&files), &script("scripts/a.py", &[]));
        let told = text(&report.stderr);
        assert_eq!(text(&report.stdout), "True\nTrue\nFalse\nFalse\n", "{told}");
        // What Python has to say of a pattern, it says in each run.
        assert!(told.contains("FutureWarning: Possible nested set"), "{told}");
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
        let skill = HOST.program(None, code.as_bytes(), &[]).unwrap();
        call(&skill, &Call::default().with_code(code, []))
    };
    let (one, other) = (run("import json, re\nprint(1)"), run("import re\ndef f():\n    import json\nprint(2)"));
    assert_eq!((text(&one.stdout).as_str(), text(&other.stdout).as_str()), ("1\n", "2\n"));
    assert_eq!(one.image.unwrap().key, other.image.unwrap().key);
}

#[test]
fn in_a_session_code_goes_on_where_it_was() {
    let skill = HOST.program(None, b"", &[]).unwrap();
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
    for folder in ["plain", "hostile", "packages", "ends"] {
        for entry in fs::read_dir(Path::new(&folder_of("script")).join(folder).join("scripts")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_module = matches!(name.as_str(), "tools" | "beside.py");
            assert!(is_module || source.contains(&format!("scripts/{name}\"")), "no test runs `{name}`");
        }
    }
}

#[test]
fn what_is_left_to_the_interpreters_end_is_done() {
    let path = "scripts/left_open.py";
    let report = call(&fixture("script/ends"), &script(path, &[]));
    let files = |report: &Report| -> Vec<(String, String)> {
        report.files.iter().map(|file| (file.path.clone(), text(&file.bytes))).collect()
    };
    let left = ("left.txt".to_owned(), "never closed: ü".to_owned());
    assert_eq!((report.exit_code, files(&report)), (Some(0), vec![left.clone()]), "{}", text(&report.stderr));
    assert_eq!(text(&report.stdout), "a thread\natexit\ngone: a name\ngone: a circle\n");
    // Also if a collection comes between the exception and the end.
    for args in [&["--fail"][..], &["--fail", "--collect"]] {
        let failed = call(&fixture("script/ends"), &script(path, args));
        assert_eq!((failed.exit_code, text(&failed.stdout)), (Some(1), "a thread\natexit\ngone: a name\n".to_owned()));
        assert_eq!(files(&failed), [("frame.txt".to_owned(), "from a frame".to_owned()), left.clone()]);
        assert!(text(&failed.stderr).ends_with("ValueError: while it is open\n"), "{}", text(&failed.stderr));
    }
}

#[test]
fn lines_on_standard_input_run_in_one_cell_until_exit() {
    let typed = |args: &[&str], lines: &str| {
        let mut command = program(&["python", "--session"]);
        let mut started =
            command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        started.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let ended = started.wait_with_output().unwrap();
        (ended.status.code().unwrap(), text(&ended.stdout), text(&ended.stderr))
    };
    let lines = "def twice(x):\n    y = 2 * x\n    return y\n\ntwice(base)\n'ü'\n1 / 0\nprint(\n  base\n)\nexit(7)\nprint('never')\n";
    let (code, stdout, stderr) = typed(&["-c", "base = 21"], lines);
    assert_eq!((code, stdout.as_str()), (7, "42\n'ü'\n21\n"), "{stderr}");
    assert!(stderr.contains("ZeroDivisionError: division by zero") && !stderr.contains(">>>"), "{stderr}");
    let (code, stdout, stderr) = typed(&[], "for n in range(2):\n    print(n)\n");
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "0\n1\n", ""), "the input's end ends a block");
    let (code, _, stderr) = typed(&[], "x = (1,\n");
    assert!(code == 0 && stderr.contains("was never closed"), "{stderr}");
    assert_eq!(typed(&["--timeout", "1"], "while True: pass\n\n").0, 124);
}

#[test]
fn output_comes_while_the_script_runs() {
    let mut started =
        program(&["python", "-c", "import time\nprint('first', flush=True)\ntime.sleep(600)", "--timeout", "30"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(started.stdout.take().unwrap()), &mut line).unwrap();
    assert_eq!(line, "first\n");
    assert!(started.try_wait().unwrap().is_none(), "it still sleeps");
    started.kill().unwrap();
    started.wait().unwrap();
}

#[test]
fn a_folders_tests_are_its_pytest_files_and_the_usage_of_its_scripts() {
    let ended = program(&["test", folder_of("script/ends").to_str().unwrap(), "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", text(&ended.stderr)));
    let tests: Vec<(&str, &str)> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|file| file["tests"].as_array().unwrap())
        .map(|test| (test["id"].as_str().unwrap(), test["outcome"].as_str().unwrap()))
        .collect();
    let expected = [
        ("tests/test_ends.py::test_a_script_can_be_imported_and_its_folder_written_to", "passed"),
        ("scripts/left_open.py::--help", "passed"),
        ("scripts/no_usage.py::--help", "failed"),
        ("scripts/with_git.py::--help", "passed"),
    ];
    assert_eq!(tests, expected, "{report:#}");
    assert_eq!((ended.status.code(), &report["ok"]), (Some(1), &false.into()));
    let one = program(&["test", folder_of("script/ends").to_str().unwrap(), "scripts/with_git.py"]).output().unwrap();
    assert_eq!(one.status.code(), Some(0), "{}", text(&one.stderr));
}

#[test]
fn the_programs_that_a_script_starts_are_named() {
    let ended = program(&["inspect", folder_of("script/ends").to_str().unwrap(), "--json"]).output().unwrap();
    let inspected: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let of = |name: &str| {
        inspected["scripts"].as_array().unwrap().iter().find(|one| one["script"] == name).cloned().unwrap()
    };
    assert_eq!(of("scripts/with_git.py")["programs"], serde_json::json!(["git", "soffice"]));
    assert_eq!(of("scripts/left_open.py")["programs"], Value::Null);
    let said = program(&["inspect", folder_of("script/ends").to_str().unwrap()]).output().unwrap();
    assert!(text(&said.stdout).contains("git, soffice"), "{}", text(&said.stdout));
}

#[test]
fn the_matrix_has_a_row_for_each_script_and_compares_what_it_does() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("all/ends");
    Skill::from_any_folder(&folder_of("script/ends")).unwrap().write_to(&folder).unwrap();
    let cases =
        serde_json::json!([{"id": "ends#fail", "skill": "ends", "script": "scripts/left_open.py", "args": ["--fail"]}]);
    fs::write(place.path().join("cases.json"), cases.to_string()).unwrap();
    let has_tier = skillcell_tiers::available(Tier::Subprocess, sandbox_choice()).is_ok();
    let (all, cases) = (place.path().join("all"), place.path().join("cases.json"));
    let mut command = program(&["matrix", all.to_str().unwrap(), "--json", "--parity", cases.to_str().unwrap()]);
    if has_tier {
        command.arg("--subprocess");
    }
    let ended = command.output().unwrap();
    let matrix: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", text(&ended.stderr)));
    let row = &matrix["skills"][0];
    let of = |name: &str| row["scripts"].as_array().unwrap().iter().find(|one| one["script"] == name).cloned().unwrap();
    assert_eq!(
        (&row["id"], &row["verdict"], &row["tests"]["cells"]["passed"]),
        (&"ends".into(), &"partly".into(), &1.into())
    );
    assert_eq!(of("scripts/with_git.py")["kind"], "programs");
    let (left, nothing) = (of("scripts/left_open.py"), of("scripts/no_usage.py"));
    assert_eq!((&left["usage"]["cell"], &nothing["usage"]["cell"]), (&"exit 0".into(), &"exit 0".into()));
    assert_eq!(left["runs"][0]["files"], serde_json::json!(["frame.txt", "left.txt"]));
    if has_tier {
        assert_eq!((&left["usage"]["same"], &left["runs"][0]["same"]), (&true.into(), &true.into()), "{left:#}");
        assert_eq!(matrix["totals"]["scripts"]["usage_same"], 3);
    }
}

fn packages() -> Skill {
    HOST.skill(folder_of("script/packages").to_str().unwrap()).unwrap()
}

#[test]
fn command_lines_of_click_and_typer_work_with_the_packages_of_their_blocks() {
    let click = |args: &[&str], input: &str| {
        let mut made = script("scripts/with_click.py", args);
        made.script_mut().unwrap().stdin = Input::Bytes(input.as_bytes().to_vec().into());
        call(&packages(), &made)
    };
    let read = click(&["-", "--times", "2"], r#"{"é": 1, "b": 2}"#);
    assert_eq!(text(&read.stdout), "{\"keys\": [\"b\", \"\\u00e9\", \"b\", \"\\u00e9\"]}\n", "{}", text(&read.stderr));
    assert_eq!(click(&["-"], r#"{"fail": 7}"#).exit_code, Some(7));
    let usage = click(&["--help"], "");
    assert!(text(&usage.stdout).contains("Usage: with_click.py [OPTIONS] SOURCE"), "{}", text(&usage.stdout));
    let wrong = click(&["-", "--times", "0"], "{}");
    assert!(wrong.exit_code == Some(2) && text(&wrong.stderr).contains("0 is not in the range"), "{wrong:?}");

    let typer = |args: &[&str]| call(&packages(), &script("scripts/with_typer.py", args));
    let greeted = typer(&["greet", "Zoë", "--loud"]);
    assert_eq!(text(&greeted.stdout), "HELLO ZOË\n", "{}", text(&greeted.stderr));
    assert_eq!(typer(&["leave", "5"]).exit_code, Some(5));
    assert!(text(&typer(&["--help"]).stdout).contains("leave"));
}

#[test]
fn workbooks_and_pdfs_are_written_and_read() {
    let cases = [("scripts/sheet.py", "out.xlsx", "45\n"), ("scripts/pages.py", "out.pdf", "3 Drei Seiten\n")];
    for (path, name, said) in cases {
        let made = call(&packages(), &script(path, &[]));
        assert_eq!((made.exit_code, made.files.len()), (Some(0), 1), "{path}: {}", text(&made.stderr));
        assert_eq!(made.files[0].path, name);
        let given = format!("given-{name}");
        let mut again = script(path, &[&given]);
        again.script_mut().unwrap().files = vec![(given, made.files[0].bytes.clone().into())];
        let read = call(&packages(), &again);
        assert_eq!(text(&read.stdout), said, "{path}: {}", text(&read.stderr));
    }
}

/// A folder of these files.
fn made_of(files: &[(&str, &str)]) -> Skill {
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), Arc::from(text.as_bytes()));
    Skill::from_files("made", files.iter().map(owned).collect()).unwrap()
}

#[test]
fn a_module_beside_the_script_is_found_before_one_that_is_loaded_already() {
    let files = [
        (
            "scripts/x.py",
            "import json, random, logging.handlers\nprint(json.X, random.X, logging.handlers.X, logging.__path__)\n",
        ),
        ("scripts/json.py", "X = 'own json'\n"),
        ("scripts/random.py", "X = 'own random'\n"),
        ("scripts/logging/__init__.py", ""),
        ("scripts/logging/handlers.py", "X = 'own handlers'\n"),
        // Part of the interpreter, and a folder without a module: Python finds neither of them here.
        ("scripts/os.py", "X = 1\nraise SystemExit('not this one')\n"),
        ("scripts/re/readme.txt", ""),
    ];
    for use_image in [true, false] {
        let mut made = script("scripts/x.py", &[]);
        made.use_image = use_image;
        let report = call(&made_of(&files), &made);
        let expected = "own json own random own handlers ['/skills/made/scripts/logging']\n";
        assert_eq!(text(&report.stdout), expected, "{}", text(&report.stderr));
    }
}

#[test]
fn the_standard_streams_have_their_names_in_dev() {
    let code = "with open('/dev/stdout', 'w') as out:\n    out.write(open('/dev/stdin').read().upper())\n\
                open('/dev/stderr', 'w').write('told')\nprint('!')\n";
    let mut made = script("x.py", &[]);
    made.script_mut().unwrap().stdin = Input::Bytes(b"given".to_vec().into());
    let report = call(&made_of(&[("x.py", code)]), &made);
    assert_eq!((text(&report.stdout).as_str(), text(&report.stderr).as_str()), ("GIVEN!\n", "told"));
}

#[test]
fn the_script_is_called_as_it_was_written_and_may_be_named_by_its_absolute_path() {
    let skill = made_of(&[("scripts/x.py", "import sys\nprint(sys.argv[0], sys.path[0], __file__)\n")]);
    let said = text(&call(&skill, &script("./scripts//x.py", &[])).stdout);
    assert_eq!(said, "./scripts//x.py /skills/made/scripts /skills/made/scripts/x.py\n");
    let folder = folder_of("script/plain");
    let path = folder.join("scripts/report.py");
    let ended =
        program(&["script", folder.to_str().unwrap(), path.to_str().unwrap(), "--", "--help"]).output().unwrap();
    assert!(text(&ended.stdout).starts_with("usage: report.py"), "{}", text(&ended.stderr));
    let outside = folder_of("script/ends").join("scripts/no_usage.py");
    let ended = program(&["script", folder.to_str().unwrap(), outside.to_str().unwrap()]).output().unwrap();
    assert_eq!(ended.status.code(), Some(125), "a path that leads elsewhere is none of this folder's");
}

#[test]
fn without_a_file_the_program_is_what_comes_on_standard_input() {
    let mut command = program(&["python"]);
    let mut started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    started.stdin.take().unwrap().write_all(b"import sys\nprint(6 * 7)\nsys.exit(3)\n").unwrap();
    let ended = started.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), text(&ended.stdout).as_str()), (Some(3), "42\n"), "{}", text(&ended.stderr));
}

#[test]
fn a_traceback_of_a_thread_has_no_frames_of_ours() {
    let code = "import threading\nthread = threading.Thread(target=lambda: 1 / 0)\nthread.start()\nthread.join()\nprint('on')\n";
    let report = call(&made_of(&[("x.py", code)]), &script("x.py", &[]));
    let told = text(&report.stderr);
    assert_eq!((report.exit_code, text(&report.stdout).as_str()), (Some(0), "on\n"));
    assert!(told.contains("Exception in thread") && told.contains("x.py\", line 2"), "{told}");
    assert!(!told.contains("skillcell_guest"), "{told}");
}

#[test]
fn bytes_that_are_no_utf_8_come_through_a_script_as_they_were() {
    let code = "import sys\nsys.stdout.write(sys.stdin.read())\nsys.stdout.buffer.write(b'\\xfe')\n";
    let mut made = script("x.py", &[]);
    made.script_mut().unwrap().stdin = Input::Bytes(b"a\xff\n".to_vec().into());
    let report = call(&made_of(&[("x.py", code)]), &made);
    assert_eq!(report.stdout, b"a\xff\n\xfe", "{}", text(&report.stderr));
}
