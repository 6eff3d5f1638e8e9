//! The official clients, the conformance suite and the inspector. They are fetched once, by name and version; where they can't
//! be had, that is said and nothing is tested.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::client::{skills, wait_for_ends};
use super::http::Served;

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/mcp")
}

/// The folder with what was fetched; none if it can't be had here.
fn fetched(kind: &str) -> Option<PathBuf> {
    // Two at once would fetch into one folder.
    static FETCHING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one_at_a_time = FETCHING.lock();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp");
    let code = Command::new(scripts().join("install.sh")).arg(kind).arg(&folder).status().expect("sh").code();
    match code {
        Some(0) => Some(folder.join(kind)),
        _ => {
            eprintln!("not tested: the packages for {kind} can't be had here");
            None
        }
    }
}

/// Uses a server over stdio and one over HTTP, and looks for the call that each era cancels.
fn use_servers(client: impl Fn() -> Command, eras: usize) {
    let folder = tempfile::tempdir().unwrap();
    let audits = ["stdio", "http"].map(|kind| folder.path().join(kind));
    let mut over_stdio = client();
    over_stdio.args(["stdio", env!("CARGO_BIN_EXE_skillcell"), "mcp", "--timeout", "100", "--quiet", "--audit"]);
    run(over_stdio.arg(&audits[0]).arg(skills()));
    let served = Served::start(&["--timeout", "100", "--audit", audits[1].to_str().unwrap()]);
    run(client().args(["http", &format!("http://{}/mcp", served.address)]));
    for audit in audits {
        let is_cancelled = |outcome: &&String| *outcome == "cancelled";
        assert_eq!(wait_for_ends(&audit, eras * 105).iter().filter(is_cancelled).count(), eras);
    }
}

fn run(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_python_client_is_served_in_both_eras_over_stdio_and_http() {
    let Some(folder) = fetched("python") else { return };
    let client = || {
        let mut command = Command::new("timeout");
        command.arg("300").arg(folder.join("venv/bin/python")).arg(scripts().join("client.py"));
        command
    };
    use_servers(client, 3);
}

#[test]
fn the_typescript_client_is_served_in_both_eras_over_stdio_and_http() {
    let Some(folder) = fetched("node") else { return };
    // Node looks for packages from where the script is.
    std::fs::copy(scripts().join("client.mjs"), folder.join("client.mjs")).unwrap();
    let client = || {
        let mut command = Command::new("timeout");
        command.arg("300").arg(folder.join("node")).arg(folder.join("client.mjs"));
        command
    };
    use_servers(client, 2);
}

#[test]
fn the_conformance_suite_and_the_inspector_find_what_is_expected() {
    let Some(folder) = fetched("node") else { return };
    let mut check = Command::new(scripts().join("check.sh"));
    let output = check.arg(env!("CARGO_BIN_EXE_skillcell")).arg(folder.parent().unwrap()).output().expect("sh");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
