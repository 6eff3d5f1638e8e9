//! Real processes, held to what was said.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn shell(script: &str) -> Program {
    let mut shell = Program::new("/bin/sh", Path::new("/"));
    shell.arg("-c").arg(script);
    shell
}

fn output(mut program: Program) -> std::process::Output {
    match program.finish(Duration::from_secs(20)).unwrap() {
        Finished::Ended(output) => output,
        Finished::TookTooLong => panic!("it took too long"),
    }
}

/// Killed, if not yet collected by whoever adopted it.
fn is_gone(pid: &str) -> bool {
    let by = Instant::now() + Duration::from_secs(10);
    while std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        if Instant::now() > by {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

#[test]
fn a_child_has_its_own_folder_and_no_environment_that_was_not_named() {
    let mut asked = shell("pwd; env");
    asked.env("NAMED", "x");
    let said = String::from_utf8(output(asked).stdout).unwrap();
    let mut lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("_=")).collect();
    lines.sort_unstable();
    // The shell sets `PWD` itself.
    assert_eq!(lines, ["/", "NAMED=x", "PWD=/"]);
}

#[test]
fn a_path_is_inherited_without_what_is_relative_in_it() {
    let mut asked = shell("echo $PATH; echo ${HOME-none}");
    asked.inherit_env(Inherited::Matching(|_| false));
    let said = String::from_utf8(output(asked).stdout).unwrap();
    let (path, home) = said.trim().split_once('\n').unwrap();
    assert!(path.split(':').all(|folder| folder.starts_with('/')), "{path}");
    assert_eq!(home, "none");
}

#[test]
fn a_program_is_never_found_in_the_current_folder() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("prog");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    let find = |path: &str| find::find_in(OsStr::new("prog"), OsStr::new(path));
    let absolute = folder.path().to_str().unwrap();
    assert!(find(absolute).is_err(), "it can't be run");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(find(&format!(".::{absolute}")).unwrap(), program);
    // From here it is this folder, whatever the number of steps is.
    let here = std::env::current_dir().unwrap();
    let up = "../".repeat(here.components().count());
    let relative = format!("{up}{}", absolute.trim_start_matches('/'));
    assert!(Path::new(&relative).join("prog").is_file());
    assert_eq!(find(&format!(":.:{relative}")).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(find_program(OsStr::new("./x")).unwrap().is_absolute(), "a name with a slash is somebody's word");
}

#[test]
fn only_so_much_of_what_it_says_is_kept_and_it_can_end() {
    let mut first = shell("yes | head -c 1000000; printf end");
    first.keep(Keep::First(10), Keep::First(0));
    assert_eq!(output(first).stdout, b"y\ny\ny\ny\ny\n");
    let mut last = shell("yes | head -c 1000000; printf end");
    last.keep(Keep::Last(5), Keep::First(0));
    assert_eq!(output(last).stdout, b"y\nend");
}

#[test]
fn a_deadline_ends_it_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let mut hangs = shell(&format!("sleep 300 & echo $! $$ > {}; wait", pids.display()));
    let started = Instant::now();
    assert!(matches!(hangs.finish(Duration::from_millis(500)).unwrap(), Finished::TookTooLong));
    assert!(started.elapsed() < Duration::from_secs(15));
    for pid in std::fs::read_to_string(&pids).unwrap().split_whitespace() {
        assert!(is_gone(pid), "{pid} is alive");
    }
}

#[test]
fn what_it_leaves_behind_goes_with_it_and_holds_nobody_up() {
    let started = Instant::now();
    let said = output(shell("sleep 300 & echo $!"));
    assert!(started.elapsed() < Duration::from_secs(15));
    assert!(said.status.success());
    assert!(is_gone(String::from_utf8(said.stdout).unwrap().trim()));
}

#[test]
fn it_ends_with_the_thread_that_started_it() {
    let running = std::thread::spawn(|| shell("exec sleep 300").start().unwrap()).join().unwrap();
    let mut running = running;
    assert!(running.wait(Instant::now() + Duration::from_secs(15)).unwrap().is_some());
}

#[test]
fn a_program_that_is_not_there_is_not_found() {
    let error = Program::new("skillcell-no-such-program", Path::new("/")).start().map(drop).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

/// Where a process is started that is a skill's, or that guards one.
const STARTERS: [&str; 5] = [
    "crates/child/src/lib.rs",
    "crates/tiers/src/guard.rs",
    "crates/tiers/src/in_process.rs",
    "crates/tiers/src/sandbox/bubblewrap.rs",
    "crates/tiers/src/sandbox/landlock.rs",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.extension() {
            _ if entry.is_dir() && !entry.ends_with("tests") => sources(&entry, found),
            Some(extension) if extension == "rs" && !entry.ends_with("tests.rs") => found.push(entry),
            _ => {}
        }
    }
}

#[test]
fn nothing_else_here_starts_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut all = Vec::new();
    sources(&root.join("src"), &mut all);
    sources(&root.join("crates"), &mut all);
    assert!(all.len() > 100, "these are the sources");
    all.retain(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        text.split("#[cfg(test)]").next().is_some_and(|code| code.contains("Command::new("))
    });
    let mut found: Vec<&str> = all.iter().map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, STARTERS);
}
