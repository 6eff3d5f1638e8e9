//! Approvals, policy files, the environment and denied imports, from outside: the program, real cells, a loopback server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::ran::{Ran, finish};
use crate::common::server::{self, answer};
use crate::common::{HOST, call, fixture, raised, returned, tests};
use serde_json::{Value, json};
use skillcell::{Approvals, Call, Decision, Host, HostError, Outcome, Report};
use skillcell_policy::{DenialKind, GrantKind};

const KEY: &str = "s3cr3t-value-42";

/// A place of its own for a test: a copy of a skill, and approvals.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new(skill: &str) -> Desk {
        let desk = Desk { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(desk.skill()).expect("made");
        for file in fs::read_dir(tests().join("skills/approve").join(skill)).expect("listed").flatten() {
            if file.path().is_file() {
                fs::copy(file.path(), desk.skill().join(file.file_name())).expect("copied");
            }
        }
        desk
    }

    fn skill(&self) -> PathBuf {
        self.folder.path().join("my_skill")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let path = self.skill().join(file);
        let text = fs::read_to_string(&path).expect("read");
        assert!(text.contains(from), "{from}");
        fs::write(path, text.replace(from, to)).expect("written");
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("SKILLCELL_APPROVALS_DIR", self.path("approvals"))
            .env("API_KEY", KEY)
            .env("REGION", "eu")
            .env("UNASKED", "of the host")
            .env_remove("SKILLWARE_SKILL_PATH")
            .stdin(Stdio::null());
        command
    }

    /// `skillcell <verb> <the skill> …`
    fn does(&self, verb: &str, args: &[&str]) -> Ran {
        let skill = self.skill();
        finish(self.command(env!("CARGO_BIN_EXE_skillcell")).arg(verb).arg(skill).arg("--quiet").args(args))
    }

    /// A line for a shell, as it was printed, with our own program.
    fn shell(&self, line: &str) -> Ran {
        let line = line.replacen("skillcell", env!("CARGO_BIN_EXE_skillcell"), 1);
        finish(self.command("sh").args(["-c", &line]))
    }

    /// `approve` on a terminal, with an answer.
    fn answers(&self, answer: &str) -> Ran {
        const TERMINAL: &str = "import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
os.write(terminal, sys.argv[1].encode() + b'\\n')
said = b''
try:
    while piece := os.read(terminal, 4096):
        said += piece
except OSError:
    pass
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))";
        let mut python = self.command("python3");
        python.args(["-c", TERMINAL, answer, env!("CARGO_BIN_EXE_skillcell"), "approve"]);
        finish(python.arg(self.skill()))
    }

    fn approved(self) -> Desk {
        self.does("approve", &["--yes"]).is(0, &["it is approved"]);
        self
    }

    fn policy(&self, text: &str) -> String {
        fs::write(self.path("skillcell.toml"), text).expect("written");
        self.path("skillcell.toml").display().to_string()
    }
}

/// Answers every request with `yes`, and remembers what it was sent.
struct Server(server::Server);

impl Server {
    fn start() -> Server {
        Server(server::Server::start(None, |_| Some(answer("200 OK", &[("Connection", "close")], "yes"))))
    }

    fn resolve(&self) -> String {
        self.0.resolve("api.example.test")
    }

    fn seen(&self) -> String {
        self.0.seen().into_iter().map(|request| request.head).collect()
    }
}

const ASK: &str = r#"{"url": "http://api.example.test/v1/x"}"#;

// Missing grants.

fn hints(denials: &Value) -> Vec<String> {
    let all = denials.as_array().expect("a list").iter();
    all.map(|denial| denial["hint"].as_str().expect("a hint").to_owned()).collect()
}

#[test]
fn each_missing_grant_is_named_with_the_flag_the_line_and_the_command_that_give_it() {
    let desk = Desk::new("asks");
    let refused = desk.does("run", &["--json"]);
    refused.is(3, &[]);
    let report = refused.json();
    let kinds: Vec<&Value> =
        report["denials"].as_array().expect("a list").iter().map(|denial| &denial["kind"]).collect();
    assert_eq!(report["outcome"], "refused");
    assert_eq!(kinds, ["http", "env", "secret"]);
    let path = desk.skill().display().to_string();
    for hint in hints(&report["denials"]) {
        assert!(
            hint.contains(&format!("`skillcell approve {path}`")) && hint.contains("[skill.\"my_skill\"]"),
            "{hint}"
        );
    }
    // The flags, pasted into a shell.
    let flags = |at: usize| report["denials"][at]["flag"].as_str().expect("a flag").to_owned();
    let line = format!("skillcell run {path} -q {} {} {}", flags(0), flags(1), flags(2));
    desk.shell(&line).is(0, &["\"region\":\"eu\""]);
    desk.shell(&format!("skillcell run {path} -q {} {}", flags(0), flags(1))).is(3, &["secret API_KEY"]);
    // The lines, put into a policy file.
    let missing = desk.does("inspect", &["--json"]).json()["permissions"]["missing"].clone();
    let lines: Vec<&str> = missing.as_array().expect("a list").iter().filter_map(|one| one["line"].as_str()).collect();
    let keys: Vec<&str> = lines.iter().filter_map(|line| line.split_once('\n')).map(|(_, key)| key).collect();
    let policy = desk.policy(&format!("[skill.\"my_skill\"]\n{}\n", keys.join("\n")));
    desk.does("run", &["--policy", &policy]).is(0, &["\"region\":\"eu\""]);
    // The command.
    desk.shell(&format!("{} --yes", missing[0]["command"].as_str().expect("a command"))).is(0, &[]);
    desk.does("run", &[]).is(0, &["\"region\":\"eu\""]);
}

#[test]
fn a_folder_of_approvals_that_a_flag_names_is_in_the_command() {
    let desk = Desk::new("asks");
    let elsewhere = desk.path("else where").display().to_string();
    let report = desk.does("run", &["--json", "--approvals-dir", &elsewhere]).json();
    let command = format!("skillcell approve --approvals-dir '{elsewhere}' {}", desk.skill().display());
    assert!(hints(&report["denials"])[0].contains(&command), "{report}");
    desk.shell(&format!("{command} --yes")).is(0, &["it is approved"]);
    desk.does("run", &["--approvals-dir", &elsewhere]).is(0, &[]);
    desk.does("run", &[]).is(3, &[]);
}

// Approvals.

#[test]
fn an_approved_skill_gets_what_it_asks_for_and_nothing_else() {
    let (desk, server) = (Desk::new("asks").approved(), Server::start());
    let ran = desk.does("run", &["--params", ASK, "--resolve", &server.resolve()]);
    ran.is(0, &[]);
    let told = ran.json();
    assert_eq!((&told["said"], &told["region"]), (&json!("yes"), &json!("eu")));
    assert!(!told["names"].as_array().expect("a list").contains(&json!("UNASKED")), "{told}");
    assert!(server.seen().contains(&format!("X-Key: {KEY}")), "{}", server.seen());
    // Another path, and another host, are not what was approved.
    for url in ["http://api.example.test/v2/x", "http://other.example.test/v1/x"] {
        let params = json!({"url": url}).to_string();
        desk.does("run", &["--params", &params, "--resolve", &server.resolve()]).is(1, &["was refused"]);
    }
    assert_eq!(server.seen().matches("POST ").count(), 1);
}

#[test]
fn the_asking_says_what_is_exposed_and_takes_only_a_yes() {
    let desk = Desk::new("asks");
    desk.does("approve", &[]).is(2, &["there is no terminal to ask on", "--yes"]);
    desk.does("run", &[]).is(3, &[]);
    for answer in ["", "n", "maybe", "yes please"] {
        desk.answers(answer).is(3, &["[y/N]", "it is not approved"]);
    }
    desk.does("run", &[]).is(3, &[]);
    let asked = desk.answers("y");
    asked.is(0, &["send POST requests to http://api.example.test", "its author says: to look things up"]);
    asked.is(0, &["anyone on the way can read", "act there in your name", "read your environment variable REGION"]);
    asked.is(0, &["names the variable OTHER_KEY, without asking for it", "it is approved"]);
    desk.does("run", &[]).is(0, &[]);
    desk.does("approve", &[]).is(0, &["it was approved in this state"]);
}

#[test]
fn a_skill_that_changed_after_its_approval_is_refused_whatever_the_flags() {
    let desk = Desk::new("asks").approved();
    desk.change("skill.py", "\"said\": said,", "\"said\": said, \"more\": 1,");
    fs::write(desk.skill().join("new.py"), "").expect("written");
    let again = format!("`skillcell approve {}`", desk.skill().display());
    desk.does("run", &[]).is(3, &["it was approved in another state", "`skill.py` changed", "`new.py` is new", &again]);
    let all = [
        "--allow-http",
        "POST http://api.example.test/v1/*",
        "--env",
        "REGION",
        "--secret",
        "API_KEY@http://api.example.test",
    ];
    desk.does("run", &all).is(3, &["it was approved in another state"]);
    desk.does("run", &["--no-image"]).is(3, &["it was approved in another state"]);
    let report = desk.does("run", &["--json"]).json();
    assert_eq!(report["denials"][0]["kind"], "approval");
    desk.answers("n").is(3, &["it was approved in another state. Since then:", "`skill.py` changed"]);
    desk.does("run", &[]).is(3, &[]);
    desk.does("approve", &["--yes"]).is(0, &[]);
    desk.does("run", &[]).is(0, &["\"more\":1"]);
}

#[test]
fn permissions_that_change_after_an_approval_are_refused_and_shown() {
    let desk = Desk::new("asks").approved();
    desk.change("manifest.yaml", "methods: [POST]", "methods: [POST, DELETE]");
    desk.change("manifest.yaml", "env: [REGION]", "env: [OTHER]");
    let words = ["where it asked to send POST requests", "it now asks to send DELETE and POST requests"];
    desk.does("run", &[]).is(3, &words);
    desk.does("run", &[]).is(3, &["it now asks to read your environment variable OTHER"]);
    desk.does("run", &[]).is(3, &["it no longer asks to read your environment variable REGION"]);
    let difference = desk.does("approve", &["--yes", "--json"]).json()["difference"].clone();
    let kinds: Vec<&Value> =
        difference["permissions"].as_array().expect("a list").iter().map(|one| &one["change"]).collect();
    assert_eq!(kinds, ["changed", "added", "removed"]);
    assert_eq!(difference["files"], json!([{"change": "changed", "path": "manifest.yaml"}]));
}

#[test]
fn a_skill_that_no_longer_asks_for_anything_has_nothing_to_approve() {
    let desk = Desk::new("asks").approved();
    fs::write(desk.skill().join("manifest.yaml"), "name: approve/asks\n").expect("written");
    desk.does("run", &[]).is(3, &["it was approved in another state"]);
    desk.does("approve", &["--yes"]).is(0, &["it asks for nothing", "what was approved of it before is forgotten"]);
    desk.does("run", &[]).is(0, &["\"region\":null"]);
    let desk = Desk::new("quiet");
    desk.does("approve", &["--yes"]).is(0, &["it asks for nothing, so there is nothing to approve"]);
    assert_eq!(desk.does("approve", &["--json"]).json()["state"], "nothing_asked");
    assert!(!desk.path("approvals/approvals.json").exists());
}

#[test]
fn permissions_that_can_not_be_read_are_not_approved() {
    let desk = Desk::new("asks");
    desk.change("manifest.yaml", "network:", "netwrok:");
    desk.does("approve", &["--yes"]).is(2, &["permissions.netwrok"]);
    fs::write(desk.skill().join("manifest.yaml"), "a: [").expect("written");
    desk.does("approve", &["--yes"]).is(2, &["the manifest of `my_skill` can't be read"]);
}

#[test]
fn a_second_place_of_the_same_content_is_watched_too() {
    let desk = Desk::new("asks").approved();
    let other = desk.path("other");
    fs::create_dir(&other).expect("made");
    for file in fs::read_dir(desk.skill()).expect("listed").flatten() {
        fs::copy(file.path(), other.join(file.file_name())).expect("copied");
    }
    let does = |args: &[&str]| {
        let mut command = desk.command(env!("CARGO_BIN_EXE_skillcell"));
        finish(command.arg(args[0]).arg(&other).args(&args[1..]))
    };
    does(&["approve", "--yes"]).is(0, &["it is approved"]);
    let text = fs::read_to_string(other.join("skill.py")).expect("read");
    fs::write(other.join("skill.py"), text + "\n# changed\n").expect("written");
    does(&["run"]).is(3, &["it was approved in another state"]);
}

#[test]
fn what_was_approved_is_not_forgotten_without_a_yes() {
    let desk = Desk::new("asks").approved();
    let manifest = fs::read_to_string(desk.skill().join("manifest.yaml")).expect("read");
    let asked = manifest.find("permissions:").expect("it asks");
    fs::write(desk.skill().join("manifest.yaml"), &manifest[..asked]).expect("written");
    desk.does("approve", &[]).is(2, &[]);
    desk.does("run", &[]).is(3, &["it was approved in another state"]);
    desk.does("approve", &["--yes"]).is(0, &["forgotten"]);
}

#[test]
fn what_skillcell_relies_on_is_not_mounted_for_writing() {
    let desk = Desk::new("quiet");
    fs::create_dir(desk.path("approvals")).expect("made");
    let rw = format!("{}:/data:rw", desk.path("").display());
    desk.does("run", &["--mount", &rw]).is(2, &["the approvals in", "could be replaced from there"]);
}

#[test]
fn approvals_are_listed_and_revoked() {
    let desk = Desk::new("asks").approved();
    let list = |json: bool| {
        let mut command = desk.command(env!("CARGO_BIN_EXE_skillcell"));
        command.args(["approve", "--list"]).args(json.then_some("--json"));
        finish(&mut command)
    };
    list(false).is(0, &["my_skill", &desk.skill().display().to_string(), "use the secret API_KEY"]);
    let listed = list(true).json();
    assert_eq!((&listed["schema"], &listed["approvals"][0]["skill"]), (&json!(1), &json!("my_skill")));
    assert_eq!(listed["approvals"][0]["permissions"]["env"], json!([{"name": "REGION"}]));
    desk.does("approve", &["--revoke"]).is(0, &["`my_skill` is no longer approved"]);
    desk.does("run", &[]).is(3, &["which is not granted"]);
    desk.does("approve", &["--revoke"]).is(2, &["nothing of"]);
    assert_eq!(list(true).json()["approvals"], json!([]));
    list(false).is(0, &["nothing is approved"]);
}

#[test]
fn approvals_that_can_not_be_trusted_stop_a_run() {
    let desk = Desk::new("asks").approved();
    let file = desk.path("approvals/approvals.json");
    let text = fs::read_to_string(&file).expect("read");
    fs::write(&file, text.replace("\"schema\":1", "\"schema\":1,\"all\":true")).expect("written");
    desk.does("run", &[]).is(2, &["unknown field `all`", "hint: move it away"]);
    fs::write(&file, text).expect("written");
    desk.does("run", &[]).is(0, &[]);
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).expect("set");
    desk.does("run", &[]).is(2, &["could be changed by others", "chmod go-w"]);
}

#[test]
fn the_operators_own_word_comes_before_an_approval() {
    let (desk, server) = (Desk::new("asks").approved(), Server::start());
    fs::write(desk.path("key"), "another-value-77\n").expect("written");
    let policy = desk.policy(&format!(
        "[skill.\"my_skill\"]\nsecret = [\"API_KEY=file:{}@http://api.example.test\"]\nenv = [\"REGION=us\"]\n",
        desk.path("key").display()
    ));
    let ran = desk.does("run", &["--params", ASK, "--resolve", &server.resolve(), "--policy", &policy]);
    ran.is(0, &["\"region\":\"us\""]);
    assert!(server.seen().contains("X-Key: another-value-77"), "{}", server.seen());
    let policy = desk.policy("[grants]\ndeny_http = [\"http://api.example.test\"]\n");
    desk.does("run", &["--policy", &policy]).is(3, &["which the rule `* http://api.example.test/*` denies"]);
}

#[test]
fn an_approved_secret_without_a_value_is_an_error_that_says_where_it_is_looked_for() {
    let desk = Desk::new("asks").approved();
    let mut command = desk.command(env!("CARGO_BIN_EXE_skillcell"));
    let ran = finish(command.arg("run").arg(desk.skill()).env_remove("API_KEY"));
    ran.is(2, &["the environment variable `API_KEY`", "--secret API_KEY=file:PATH@HOST"]);
}

#[test]
fn inspect_tells_asked_granted_and_effective() {
    let desk = Desk::new("asks");
    let policy = desk.policy("[grants]\nenv = [\"UNASKED\"]\n[skill.\"my_skill\"]\nenv = [\"REGION=us\"]\n");
    let flags = ["--json", "--policy", &policy, "--allow-http", "* http://api.example.test/*"];
    let told = desk.does("inspect", &flags).json()["permissions"].clone();
    assert_eq!(told["asked"]["env"], json!([{"name": "REGION"}]));
    assert_eq!(told["approval"], json!({"state": "unknown", "approved": null, "difference": null}));
    assert_eq!(told["granted"]["policy"], json!({"env": ["UNASKED", "REGION"]}), "names, not values");
    assert_eq!(told["granted"]["flags"], json!({"allow_http": ["* http://api.example.test/*"]}));
    assert_eq!(told["granted"]["approval"], json!({}));
    let effective = json!({"allow_http": ["POST http://api.example.test/v1/*"], "env": ["REGION"]});
    assert_eq!((&told["effective"], &told["unused"]), (&effective, &json!(["UNASKED"])));
    assert_eq!((&told["missing"][0]["kind"], &told["refused"]), (&json!("secret"), &json!(true)));
    let desk = desk.approved();
    let told = desk.does("inspect", &["--json"]).json()["permissions"].clone();
    assert_eq!((&told["approval"]["state"], &told["refused"]), (&json!("approved"), &json!(false)));
    assert_eq!(told["effective"], told["granted"]["approval"]);
    desk.does("inspect", &[]).is(0, &["in this state, on 2", "it may use the secret API_KEY"]);
    fs::write(desk.skill().join("new.py"), "").expect("written");
    let told = desk.does("inspect", &["--json"]).json()["permissions"].clone();
    assert_eq!((&told["approval"]["state"], &told["refused"]), (&json!("changed"), &json!(true)));
    assert_eq!((&told["granted"]["approval"], &told["effective"]), (&json!({}), &json!({})));
    desk.does("inspect", &[]).is(0, &["in another state: `new.py` is new", "would be refused"]);
}

#[test]
fn a_flag_that_does_not_hold_is_told_of_and_what_a_policy_file_has_for_others_is_not() {
    let desk = Desk::new("asks").approved();
    let policy = desk.policy("[grants]\nenv = [\"UNASKED\"]\n");
    let ran = desk.does("run", &["--policy", &policy, "--allow-http", "https://elsewhere.example.test/*"]);
    let told =
        "warning: `GET,HEAD https://elsewhere.example.test/*` does not hold: the `permissions` of `my_skill` don't ask";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(!ran.stderr.contains("UNASKED"), "{}", ran.stderr);
}

// Policy files.

#[test]
fn what_is_wrong_with_a_policy_file_is_said_with_its_line() {
    let desk = Desk::new("quiet");
    for (text, words) in [
        ("[grants]\nallow_everything = true\n", "line 2: unknown field `allow_everything`"),
        ("grant = 1\n", "line 1: unknown field `grant`"),
        ("[grants]\nenv = \"REGION\"\n", "line 2: invalid type: string"),
        ("[grants]\nmount = [[\"/a\", \"/b\"]]\n", "line 2: invalid type: sequence"),
        ("[skill]\nx = 1\n", "line 2: invalid type: integer"),
        ("[grants]\nenv = [\"HOME\"]\n", "line 2: `HOME` has a fixed value in every cell"),
        ("[grants]\nenv = [\"LC_ALL=C\"]\n", "`LC_ALL` has a fixed value in every cell"),
        ("[grants]\nenv = [\"*\"]\n", "`*` is not the name of an environment variable"),
        ("[grants]\ndeny_import = [\"a b\"]\n", "`a b` is not the name of a module"),
        ("[grants]\nsecret = [\"KEY\"]\n", "does not say which host it is for"),
        ("not toml", "line 1: "),
    ] {
        desk.does("run", &["--policy", &desk.policy(text)]).is(2, &["the policy file `", words]);
    }
    let long = format!("#{}\n", "é".repeat(600_000));
    desk.does("run", &["--policy", &desk.policy(&long)]).is(2, &["longer than 262144 bytes"]);
    fs::write(desk.path("skillcell.toml"), b"# \xff\n").expect("written");
    let path = desk.path("skillcell.toml").display().to_string();
    desk.does("run", &["--policy", &path]).is(2, &["the policy file `", "utf-8"]);
    desk.does("run", &["--policy", "/no/such/file"]).is(2, &["the policy file `/no/such/file` can't be read"]);
    let many: Vec<String> = (0..300).map(|n| format!("\"V{n}\"")).collect();
    let text = format!("[grants]\nenv = [{}]\n", many.join(","));
    desk.does("run", &["--policy", &desk.policy(&text)]).is(2, &["more than 256 entries of `env`"]);
}

#[test]
fn a_section_for_another_skill_grants_nothing() {
    let desk = Desk::new("quiet");
    let seen = |policy: &str| desk.does("run", &["--policy", &desk.policy(policy)]).json()["env"]["REGION"].clone();
    assert_eq!(seen("[skill.\"other\"]\nenv = [\"REGION\"]\n"), Value::Null);
    assert_eq!(seen("[skill.\"local/my_skill\"]\nenv = [\"REGION\"]\n"), Value::Null);
    assert_eq!(seen("[skill.my_skill]\nenv = [\"REGION\"]\n"), "eu");
    assert_eq!(seen("[grants]\nenv = [\"REGION=us\"]\n[skill.other]\nenv = [\"REGION\"]\n"), "us");
}

#[test]
fn a_policy_file_is_read_only_if_it_is_named() {
    let desk = Desk::new("quiet");
    desk.policy("[grants]\nenv = [\"REGION\"]\n");
    let mut command = desk.command(env!("CARGO_BIN_EXE_skillcell"));
    let ran = finish(command.args(["run", "my_skill", "-q"]).current_dir(desk.folder.path()));
    assert_eq!(ran.json()["env"]["REGION"], Value::Null);
}

// The environment.

#[test]
fn of_the_environment_a_skill_sees_what_is_granted_by_name_and_fixed_values() {
    let desk = Desk::new("quiet");
    let run = |args: &[&str]| {
        let mut command = desk.command(env!("CARGO_BIN_EXE_skillcell"));
        command
            .env("HOME", "/somewhere/else")
            .env("TMPDIR", "/var/tmp")
            .env("TZ", "Asia/Tokyo")
            .env("LANG", "de_DE")
            .env("LC_ALL", "C");
        command.env("XDG_CACHE_HOME", cache()).env("PYTHONPATH", "/x");
        finish(command.arg("run").arg(desk.skill()).arg("-q").args(args))
    };
    let plain = run(&[]).json();
    let env = plain["env"].as_object().expect("a mapping");
    for (name, value) in [("HOME", "/home/skill"), ("TMPDIR", "/tmp"), ("TZ", "UTC"), ("LANG", "C.UTF-8")] {
        assert_eq!(env.get(name), Some(&json!(value)), "{name}");
    }
    assert_eq!((&plain["zone"], &plain["home"]), (&json!("UTC"), &json!("/home/skill")));
    for name in ["UNASKED", "REGION", "API_KEY", "PATH", "LC_ALL", "PYTHONPATH", "XDG_CACHE_HOME"] {
        assert_eq!(env.get(name), None, "{name}");
    }
    let granted = run(&["--env", "REGION", "--env", "GIVEN=x=y", "--env", "NOT_SET_ANYWHERE"]).json();
    let mut expected = plain["env"].clone();
    expected["REGION"] = json!("eu");
    expected["GIVEN"] = json!("x=y");
    assert_eq!(granted["env"], expected);
    for name in ["HOME=/x", "TMPDIR=/x", "TZ=CET", "LANG", "LC_ALL=C", "PATH", "PYTHONPATH=/x", "=x", "a-b=c"] {
        run(&["--env", name]).is(2, &["--env can't be granted"]);
    }
}

fn cache() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache"))).expect("a cache")
}

#[test]
fn a_fixed_value_is_fixed_for_a_program_too() {
    let mut wanted = Call::new(json!({}));
    wanted.env.insert("TZ".into(), "CET".into());
    let error = HOST.call(&fixture("approve/quiet"), &wanted).map(drop).expect_err("it can't be given");
    assert!(matches!(error, HostError::Grant(_)) && error.to_string().contains("`TZ` has a fixed value"), "{error}");
}

#[test]
fn a_variable_that_was_not_asked_for_is_not_given_to_a_skill_that_asks() {
    let desk = Desk::new("asks").approved();
    let told = desk.does("run", &["--env", "UNASKED"]).json();
    assert!(!told["names"].as_array().expect("a list").contains(&json!("UNASKED")), "{told}");
}

// Denied imports.

fn import(params: Value, denied: &[&str], use_image: bool) -> Report {
    let mut wanted = Call::new(params);
    denied.iter().for_each(|name| wanted.grants.add(GrantKind::DenyImport, name).expect("a module"));
    wanted.use_image = use_image;
    wanted.allow_any_import = true;
    call(&fixture("approve/imports"), &wanted)
}

fn told(report: Report) -> Value {
    returned(report).unwrap_or_else(|what| panic!("{what}"))
}

fn denial(name: &str) -> String {
    format!("the operator denies importing '{name}' (`--deny-import {name}`, or `deny_import` in the policy file)")
}

#[test]
fn a_denied_import_raises_wherever_the_skill_imports_it() {
    for use_image in [true, false] {
        let at_import = raised(import(json!({"do": "nothing"}), &["subprocess"], use_image)).expect("it raises");
        assert_eq!(at_import.kind, "ImportError");
        assert!(at_import.message.contains(&denial("subprocess")), "{}", at_import.message);
        assert!(at_import.traceback.contains("import subprocess") && !at_import.traceback.contains("skillcell_guest"));
        let in_constructor = raised(import(json!({"do": "nothing"}), &["mimetypes"], use_image)).expect("it raises");
        assert_eq!((&*in_constructor.kind, in_constructor.message), ("ImportError", denial("mimetypes")));
        let fallback = told(import(json!({"do": "fallback"}), &["colorsys"], use_image));
        assert_eq!(fallback["came"], denial("colorsys"));
    }
    for (doing, name) in [("statement", "json"), ("statement", "sched"), ("import_module", "json"), ("from", "os.path")]
    {
        let came = told(import(json!({"do": doing, "name": name}), &[name], true));
        assert_eq!((&came["error"], &came["message"]), (&json!("ImportError"), &json!(denial(name))), "{doing}");
        let free = told(import(json!({"do": doing, "name": name}), &["sndhdr"], true));
        assert_eq!(free["came"], Value::Null, "{doing} {name}: {free}");
    }
    let below = told(import(json!({"do": "statement", "name": "xml.dom.minidom"}), &["xml"], true));
    assert!(below["message"].as_str().expect("text").contains("'xml.dom.minidom' (`--deny-import xml`"), "{below}");
}

#[test]
fn an_image_in_which_a_denied_module_was_imported_is_not_used() {
    assert!(import(json!({"do": "nothing"}), &[], true).image.is_some());
    let unrelated = import(json!({"do": "nothing"}), &["sched", "multiprocessing"], true);
    assert!(unrelated.image.is_some(), "it imported neither");
    // At import, in the constructor, and in the warm-up, where only the first use imports.
    for name in ["subprocess", "colorsys", "mimetypes", "wave"] {
        assert!(import(json!({"do": "nothing"}), &[name], true).image.is_none(), "{name}");
    }
    assert_eq!(told(import(json!({"do": "used_once"}), &[], true))["came"], "wave");
    assert_eq!(told(import(json!({"do": "used_once"}), &["wave"], true))["message"], denial("wave"));
}

#[test]
fn libraries_are_denied_too_and_our_own_modules_are_not() {
    let requests = told(import(json!({"do": "statement", "name": "requests"}), &["socket"], true));
    assert_eq!(requests["message"], denial("socket"));
    let denied = ["traceback", "json", "ssl", "random", "yaml", "os", "sys", "time"];
    for use_image in [true, false] {
        let came = told(import(json!({"do": "no such thing"}), &denied, use_image));
        assert_eq!(came["error"], "KeyError", "{came}");
    }
    // Nor is what describes an exception.
    let at_import =
        raised(import(json!({"do": "nothing"}), &["subprocess", "traceback", "json"], true)).expect("raises");
    assert!(at_import.traceback.starts_with("Traceback (most recent call last)"), "{}", at_import.traceback);
}

#[test]
fn denied_imports_come_from_flags_and_policy_files() {
    let desk = Desk::new("imports");
    let params = r#"{"do": "statement", "name": "sched"}"#;
    let desk_run = |args: &[&str]| desk.does("run", &[&["--allow-import", "subprocess"], args].concat());
    for flags in [
        &["--deny-import", "sched"][..],
        &["--deny-import", "wave,sched"],
        &["--deny-import", "wave", "--deny-import", "sched"],
    ] {
        desk_run(&[&["--params", params], flags].concat()).is(0, &["`--deny-import sched`"]);
    }
    let policy = desk.policy("[skill.my_skill]\ndeny_import = [\"sched\"]\n");
    desk_run(&["--params", params, "--policy", &policy]).is(0, &["`deny_import` in the policy file"]);
    desk.does("run", &["--deny-import", "a b"]).is(2, &["`a b` is not the name of a module"]);
}

const DO_NOTHING: &str = r#"{"do": "nothing"}"#;

#[test]
fn a_skill_that_is_sure_to_import_what_is_no_use_in_a_cell_is_refused_early() {
    let desk = Desk::new("imports");
    for more in [&[][..], &["--no-image"]] {
        let ran = desk.does("run", &[&["--params", DO_NOTHING, "--json"], more].concat());
        ran.is(3, &[]);
        let denials = ran.json()["denials"].clone();
        assert_eq!(denials.as_array().map(Vec::len), Some(1), "what is imported in a function is not: {denials}");
        assert_eq!((&denials[0]["kind"], &denials[0]["asked"]), (&json!("import"), &json!("subprocess")));
        assert_eq!(denials[0]["flag"], "--allow-import subprocess");
        let message = "`skill.py:4` imports `subprocess`, and there are no programs in a cell to start";
        assert_eq!(denials[0]["message"], message);
    }
    desk.does("run", &["--params", DO_NOTHING, "--allow-import", "ctypes,subprocess"]).is(0, &[]);
    let policy = desk.policy("[skill.my_skill]\nallow_import = [\"subprocess\"]\n");
    desk.does("run", &["--params", DO_NOTHING, "--policy", &policy]).is(0, &[]);
}

#[test]
fn the_library_refuses_what_run_refuses_unless_it_is_told_otherwise() {
    let desk = Desk::new("imports");
    let host = Host::builder().build().expect("a host");
    let skill = || host.skill(desk.skill().to_str().expect("a plain path")).expect("a skill");
    let mut wanted = Call::new(json!({"do": "nothing"}));
    let report = host.call(&skill(), &wanted).expect("a report");
    assert!(matches!(report.outcome, Outcome::Refused), "{:?}", report.outcome);
    assert_eq!((report.denials[0].kind, &*report.denials[0].asked), (DenialKind::Import, "subprocess"));
    wanted.allow_any_import = true;
    returned(host.call(&skill(), &wanted).expect("a report")).expect("a result");
    wanted.config = Some(json!([]));
    assert!(matches!(host.call(&skill(), &wanted), Err(HostError::ConfigNotAnObject)));
}

#[test]
fn the_library_refuses_what_changed_since_it_was_approved_and_grants_nothing_by_approvals() {
    if let Some(folder) = std::env::var_os("SKILLCELL_TEST_CHANGED") {
        return in_a_process_with_approvals(Path::new(&folder));
    }
    let desk = Desk::new("asks");
    let name = "approve::the_library_refuses_what_changed_since_it_was_approved_and_grants_nothing_by_approvals";
    let mut again = desk.command(std::env::current_exe().expect("this program").to_str().expect("a plain path"));
    let ran = finish(again.args(["--exact", name]).env("SKILLCELL_TEST_CHANGED", desk.skill()));
    ran.is(0, &["1 passed"]);
}

/// The user's own approvals are those of the environment, which only a process of its own has from its beginning.
fn in_a_process_with_approvals(folder: &Path) {
    let build = |allow| Host::builder().allow_changed_skills(allow).build().expect("a host");
    let (strict, lenient) = (build(false), build(true));
    let skill = || strict.skill(folder.to_str().expect("a plain path")).expect("a skill");
    let granting = || Host::builder().approvals(Approvals::locate(None).expect("a place")).build().expect("a host");
    let kinds = |host: &Host| match host.plan(&skill(), &Call::default()).expect("a decision") {
        Decision::Planned(_) => Vec::new(),
        Decision::Refused(refused) => refused.denials.iter().map(|denial| denial.kind).collect(),
    };
    let asks = kinds(&strict);
    assert!(!asks.is_empty() && !asks.contains(&DenialKind::Approval), "{asks:?}");
    let permissions = strict.manifest(&skill()).expect("a manifest").permissions.expect("it asks");
    Approvals::locate(None).expect("a place").approve(&skill(), &permissions, &[]).expect("approved");
    assert_eq!(
        (kinds(&strict), kinds(&lenient)),
        (asks.clone(), asks.clone()),
        "an approval is no grant of the library's"
    );
    assert!(kinds(&granting()).len() < asks.len(), "unless it is given");
    fs::write(folder.join("more.txt"), "changed").expect("written");
    assert_eq!(kinds(&strict), [DenialKind::Approval]);
    assert_eq!(kinds(&granting()), [DenialKind::Approval]);
    assert_eq!(kinds(&lenient), asks);
}

#[test]
fn an_import_that_the_skill_can_do_without_is_not_refused() {
    let guarded = "try:\n    import subprocess, ctypes\nexcept ImportError:\n    subprocess = None\n\
                   if not subprocess:\n    import multiprocessing\nfrom multiprocessing.pool import ThreadPool\nimport socket";
    let desk = Desk::new("imports");
    desk.change("skill.py", "import subprocess", guarded);
    desk.does("run", &["--params", DO_NOTHING]).is(0, &[]);
    // Nor is what no file that it imports has in it; but what such a file has is.
    fs::write(desk.skill().join("tool.py"), "import ctypes\n").expect("written");
    desk.does("run", &["--params", DO_NOTHING]).is(0, &[]);
    desk.change("skill.py", "ThreadPool\nimport socket", "ThreadPool\nimport tool");
    desk.does("run", &["--params", DO_NOTHING]).is(3, &["`tool.py:1` imports `ctypes`"]);
}

#[test]
fn an_approved_skill_may_import_what_it_likes() {
    let desk = Desk::new("asks");
    let text = fs::read_to_string(desk.skill().join("skill.py")).expect("read");
    fs::write(desk.skill().join("skill.py"), format!("import subprocess\n{text}")).expect("written");
    desk.does("run", &[]).is(3, &["`skill.py:1` imports `subprocess`"]);
    desk.does("approve", &["--yes"]).is(0, &["it is approved"]);
    desk.does("run", &[]).is(0, &[]);
}

#[test]
fn approving_with_json_asks_nothing() {
    let desk = Desk::new("asks");
    desk.does("approve", &["--json"]).is(2, &["with `--json` nothing is asked: `--yes` approves"]);
    assert_eq!(desk.does("approve", &["--json", "--yes"]).json()["state"], "approved");
}

#[test]
fn the_command_that_approves_is_told_once() {
    let desk = Desk::new("asks");
    let ran = desk.does("run", &[]);
    ran.is(3, &["any of these grants it"]);
    assert!(ran.stderr.matches("error:").count() > 1, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("skillcell approve").count(), 1, "{}", ran.stderr);
}

/// Nothing is denied by default to a skill that imports it when it needs it; what these modules can't do says so when it
/// is tried.
#[test]
fn by_default_what_a_cell_lacks_says_so_at_use() {
    for (name, what) in [
        ("subprocess", "processes (`subprocess`)"),
        ("ctypes", "ctypes; native libraries can't be loaded into a cell"),
        ("multiprocessing", "processes (`multiprocessing.Process.start`)"),
        ("socket", "raw sockets"),
    ] {
        let came = told(import(json!({"do": name}), &[], true));
        let message = came["message"].as_str().unwrap_or_else(|| panic!("{name}: {came}"));
        assert!(message.contains(&format!("not available in a skillcell cell: {what}")), "{name}: {message}");
    }
    let desk = Desk::new("imports");
    let noted = desk.does("inspect", &["--json"]).json()["refused_at_use"].clone();
    let names: Vec<&str> = noted.as_object().expect("a mapping").keys().map(String::as_str).collect();
    assert_eq!(names, ["ctypes", "multiprocessing", "socket", "subprocess"]);
    assert_eq!(noted["subprocess"]["where"], "skill.py:4");
}

#[test]
fn every_fixture_is_used() {
    let text = include_str!("approve.rs");
    for folder in fs::read_dir(tests().join("skills/approve")).expect("listed").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(text.contains(&format!("\"{name}\"")), "no test runs `{name}`");
    }
    assert!(Path::new(env!("CARGO_BIN_EXE_skillcell")).exists());
}
