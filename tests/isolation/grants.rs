//! Grants, each with its pair: with the grant it works, without it this denial. Real cells, a real loopback server.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::common::server::{self, Request, answer};
use crate::common::{HOST, call, fixture, returned, tests};
use serde_json::{Value, json};
use skillcell::{Call, Outcome, Report};
use skillcell_policy::{DenialKind, GrantKind, Grants, PolicyFile};

const NAME: &str = "api.example.test";

/// A server for [`NAME`].
struct Server(server::Server);

impl std::ops::Deref for Server {
    type Target = server::Server;

    fn deref(&self) -> &server::Server {
        &self.0
    }
}

impl Server {
    fn start() -> Server {
        Server(server::Server::start(None, handle))
    }

    fn seen(&self) -> Vec<String> {
        self.0.seen().iter().map(Request::text).collect()
    }

    fn grants(&self, rules: &[&str]) -> Grants {
        grants(self.port, rules)
    }
}

fn grants(port: u16, rules: &[&str]) -> Grants {
    let mut grants = Grants::default();
    grants.add(GrantKind::Resolve, &format!("{NAME}:80:127.0.0.1:{port}")).expect("a resolve");
    rules.iter().for_each(|rule| grants.add(GrantKind::AllowHttp, rule).expect("a rule"));
    grants
}

fn handle(request: &Request) -> Option<Vec<u8>> {
    let Request { method, target, body, .. } = request;
    Some(match target.split(['?', '#']).next().unwrap_or("/") {
        "/v1/moved" => answer("302 Found", &[("Location", "/v1/here")], ""),
        "/v1/away" => answer("302 Found", &[("Location", "http://other.example.test/")], ""),
        "/v1/chunked" => {
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n".to_vec()
        }
        "/v1/missing" => answer("404 Not Found", &[], "nothing here"),
        "/v1/echo" => answer("200 OK", &[], request.text()),
        "/api/generate" => answer("200 OK", &[], r#"{"response": "Contact [PERSON_1] at [EMAIL_1]"}"#),
        // 1 MiB, in about a kilobyte.
        "/v1/zeros" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            let body = encoder.write_all(&[b'0'; 1 << 20]).and_then(|()| encoder.finish()).expect("compressed");
            answer("200 OK", &[("Content-Encoding", "gzip")], body)
        }
        "/v1/slow" => return None,
        _ => answer("200 OK", &[], format!("{method} {target} {body}")),
    })
}

fn report(skill: &str, params: Value, grants: Grants) -> Report {
    let mut wanted = Call::new(params);
    wanted.grants = grants;
    call(&fixture(&format!("grants/{skill}")), &wanted)
}

fn ask(way: &str, path: &str, grants: Grants) -> Report {
    report("web", json!({"way": way, "url": format!("http://{NAME}{path}")}), grants)
}

fn result(report: Report) -> Value {
    returned(report).unwrap_or_else(|what| panic!("{what}"))
}

fn flags(report: &Report) -> Vec<String> {
    report.denials.iter().filter_map(|denial| denial.flag.clone()).collect()
}

const WAYS: [&str; 5] = ["urllib", "http.client", "requests", "asyncio", "own socket"];

#[test]
fn every_library_gets_what_is_granted() {
    let server = Server::start();
    for way in WAYS {
        let report = ask(way, "/v1/x?q=1", server.grants(&["http://api.example.test/v1/*"]));
        assert!(report.denials.is_empty(), "{way}: {:?}", report.denials);
        assert_eq!(result(report), json!({"status": 200, "text": "GET /v1/x?q=1 "}), "{way}");
    }
    assert_eq!(server.seen().len(), WAYS.len());
}

#[test]
fn without_a_grant_nothing_is_asked_and_the_flag_is_named() {
    let server = Server::start();
    for way in WAYS {
        let mut grants = server.grants(&[]);
        let report = ask(way, "/v1/x", std::mem::take(&mut grants));
        assert_eq!(flags(&report), ["--allow-http 'http://api.example.test/*'"], "{way}");
        let told = result(report);
        let error = told["error"].as_str().unwrap_or_else(|| panic!("{way}: {told}"));
        let expected = match way {
            "urllib" => "urllib.error.URLError",
            "requests" => "requests.exceptions.ConnectionError",
            _ => "socket.gaierror",
        };
        assert_eq!(error, expected, "{way}");
    }
    assert_eq!(server.seen(), Vec::<String>::new());
}

#[test]
fn the_path_and_the_method_have_to_be_granted_too() {
    let server = Server::start();
    let refused = ask("requests", "/v2/x", server.grants(&["http://api.example.test/v1/*"]));
    assert_eq!(flags(&refused), ["--allow-http 'GET http://api.example.test/v2/x'"]);
    assert_eq!(refused.denials[0].kind, DenialKind::Http);
    assert_eq!(result(refused)["error"], "requests.exceptions.ConnectionError");
    let post = json!({"way": "urllib", "url": format!("http://{NAME}/v1/x"), "method": "POST", "body": "b"});
    let refused = report("web", post.clone(), server.grants(&["http://api.example.test/v1/*"]));
    assert_eq!(flags(&refused), ["--allow-http 'POST http://api.example.test/v1/x'"]);
    assert_eq!(server.seen(), Vec::<String>::new());
    let allowed = report("web", post, server.grants(&["POST http://api.example.test/v1/*"]));
    assert_eq!(result(allowed), json!({"status": 200, "text": "POST /v1/x b"}));
}

#[test]
fn bodies_errors_chunks_and_sessions_arrive() {
    let server = Server::start();
    let rules = ["GET,POST http://api.example.test/v1/*"];
    for way in ["urllib", "http.client", "requests"] {
        let body = "x".repeat(300_000);
        let params = json!({"way": way, "url": format!("http://{NAME}/v1/x"), "method": "POST", "body": body});
        let told = result(report("web", params, server.grants(&rules)));
        assert_eq!(told["text"].as_str().map(str::len), Some("POST /v1/x ".len() + 300_000), "{way}");
        assert_eq!(result(ask(way, "/v1/chunked", server.grants(&rules)))["text"], "one two", "{way}");
        let missing = result(ask(way, "/v1/missing", server.grants(&rules)));
        assert_eq!(missing, json!({"status": 404, "text": "nothing here"}), "{way}");
    }
    let session = result(ask("session", "/v1/x", server.grants(&rules)));
    assert_eq!(session["text"], "GET /v1/x |GET /v1/x |GET /v1/x ");
}

#[test]
fn redirects_are_followed_as_far_as_each_is_granted() {
    let server = Server::start();
    for way in ["urllib", "requests"] {
        let told = result(ask(way, "/v1/moved", server.grants(&["http://api.example.test/v1/*"])));
        assert_eq!(told, json!({"status": 200, "text": "GET /v1/here "}), "{way}");
        let away = ask(way, "/v1/away", server.grants(&["http://api.example.test/v1/*"]));
        assert_eq!(flags(&away), ["--allow-http 'http://other.example.test/*'"], "{way}");
        assert!(result(away)["error"].is_string(), "{way}");
    }
}

#[test]
fn a_time_out_is_the_one_that_the_library_has_for_it() {
    let server = Server::start();
    for (way, error) in [
        ("urllib", "builtins.TimeoutError"),
        ("http.client", "builtins.TimeoutError"),
        ("requests", "requests.exceptions.ReadTimeout"),
    ] {
        let params = json!({"way": way, "url": format!("http://{NAME}/v1/slow"), "timeout": 0.2});
        let told = result(report("web", params, server.grants(&["http://api.example.test/v1/*"])));
        assert_eq!(told["error"], error, "{way}");
    }
}

#[test]
fn the_deadline_ends_a_wait_for_an_answer() {
    let server = Server::start();
    let skill = fixture("grants/web");
    let params = json!({"way": "requests", "url": format!("http://{NAME}/v1/slow"), "timeout": 60});
    call(&skill, &Call::new(json!({"way": "none"}))); // so that it is baked
    let mut wanted = Call::new(params);
    wanted.grants = server.grants(&["http://api.example.test/v1/*"]);
    wanted.limits.deadline = Duration::from_millis(1500);
    let started = Instant::now();
    let report = call(&skill, &wanted);
    assert!(matches!(report.outcome, Outcome::Exceeded(skillcell::LimitKind::Deadline, _)), "{:?}", report.outcome);
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn an_address_of_this_machine_needs_its_own_grant() {
    let server = Server::start();
    let url = format!("http://127.0.0.1:{}/v1/x", server.port);
    let mut grants = Grants::default();
    let refused = report("web", json!({"way": "requests", "url": url}), grants.clone());
    assert_eq!((refused.denials.len(), flags(&refused)), (1, Vec::new()), "no line to paste");
    assert!(refused.denials[0].hint.as_ref().is_some_and(|hint| hint.contains("is a loopback address")));
    // A name that DNS leads here is not granted by a rule for the name.
    grants.add(GrantKind::AllowHttp, &format!("http://localhost:{}/*", server.port)).expect("a rule");
    let url = format!("http://localhost:{}/v1/x", server.port);
    let refused = report("web", json!({"way": "requests", "url": url}), grants.clone());
    assert!(refused.denials.iter().all(|denial| denial.kind == DenialKind::Address), "{:?}", refused.denials);
    assert!(!refused.denials.is_empty() && server.seen().is_empty());
    grants.add(GrantKind::AllowHttp, &format!("http://127.0.0.1:{}/*", server.port)).expect("a rule");
    let url = format!("http://127.0.0.1:{}/v1/x", server.port);
    let allowed = report("web", json!({"way": "requests", "url": url}), grants);
    assert_eq!(result(allowed)["status"], 200);
}

#[test]
fn a_server_that_is_not_there_is_a_connection_error() {
    let told = result(ask("requests", "/v1/x", grants(server::nobody(), &["http://api.example.test/*"])));
    assert_eq!(told["error"], "requests.exceptions.ConnectionError");
}

/// An unchanged skill of the registry, and what it gives outside.
#[test]
fn the_registrys_masker_asks_a_model_on_this_machine() {
    let server = Server::start();
    let mut wanted = Call::new(json!({"text": "Contact John Smith at john@x.org", "mode": "redact"}));
    wanted.grants.add(GrantKind::AllowHttp, "POST http://localhost:11434/api/generate").expect("a rule");
    let resolve = format!("localhost:11434:127.0.0.1:{}", server.port);
    wanted.grants.add(GrantKind::Resolve, &resolve).expect("a resolve");
    let report = call(&HOST.skill("compliance/pii_masker").expect("a skill"), &wanted);
    assert!(report.denials.is_empty(), "{:?}", report.denials);
    assert_eq!(result(report)["sanitized_text"], "Contact XXXX at XXXX");
    let seen = server.seen().pop().expect("a request");
    assert!(
        seen.contains(r#"{"model": "arpacorp/micro-f1-mask", "prompt": "Contact John Smith at john@x.org""#),
        "{seen}"
    );
}

// Files.

const CHANGES: [&str; 10] =
    ["create", "overwrite", "append", "truncate", "truncate_open", "rename", "unlink", "mkdir", "rmdir", "utime"];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    for place in ["data/sub", "data/empty", "outside"] {
        fs::create_dir_all(folder.path().join(place)).expect("made");
    }
    for name in ["a.txt", "w.txt", "r.txt", "u.txt", "sub/b.txt"] {
        fs::write(data.join(name), name).expect("written");
    }
    fs::write(folder.path().join("outside/secret.txt"), "outside").expect("written");
    std::os::unix::fs::symlink("../outside/secret.txt", data.join("out")).expect("linked");
    std::os::unix::fs::symlink(folder.path().join("outside"), data.join("outdir")).expect("linked");
    std::os::unix::fs::symlink("sub/b.txt", data.join("inside")).expect("linked");
    folder
}

fn files(folder: &tempfile::TempDir, mode: &str, doings: &[&str]) -> Value {
    let mut grants = Grants::default();
    let mount = format!("{}:/data:{mode}", folder.path().join("data").display());
    grants.add(GrantKind::Mount, &mount).expect("a mount");
    result(report("files", json!({"do": doings}), grants))
}

/// The kernel would end the program with a signal that nobody expects.
#[test]
fn a_file_that_outgrows_the_users_limit_is_an_error_for_the_skill() {
    let folder = folder();
    assert_eq!(files(&folder, "rw", &["create"])["create"], "done", "and the image is baked");
    let line = format!(
        "ulimit -f 0; exec '{}' run '{}' --quiet --params '{{\"do\": [\"overwrite\", \"read\"]}}' --mount '{}:/data:rw'",
        env!("CARGO_BIN_EXE_skillcell"),
        tests().join("skills/grants/files").display(),
        folder.path().join("data").display()
    );
    let output = std::process::Command::new("sh").args(["-c", &line]).output().expect("it starts");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(told, json!({"overwrite": "EFBIG", "read": "a.txt"}));
}

#[test]
fn without_a_mount_there_is_nothing() {
    let told = result(report("files", json!({"do": ["list", "read", "create", "passwd"]}), Grants::default()));
    assert_eq!(told["list"], "ENOENT");
    assert_eq!((&told["read"], &told["passwd"]), (&json!("ENOENT"), &json!("ENOENT")));
    assert_ne!(told["create"], "done");
}

#[test]
fn a_read_only_mount_is_read_and_not_changed_by_any_route() {
    let folder = folder();
    let data = folder.path().join("data");
    let before = fs::metadata(data.join("a.txt")).and_then(|metadata| metadata.modified()).expect("a time");
    let told = files(&folder, "ro", &["list", "read", "read_below"]);
    assert_eq!((&told["read"], &told["read_below"]), (&json!("a.txt"), &json!("sub/b.txt")));
    assert_eq!(told["list"].as_array().map(Vec::len), Some(9), "{told}");
    let mode = || fs::metadata(data.join("a.txt")).map(|metadata| metadata.permissions()).expect("a mode");
    let mode_before = mode();
    for doing in ["chmod", "chmod_folder", "fchmod", "utime_folder"] {
        assert_eq!(files(&folder, "ro", &[doing])[doing], "EROFS", "{doing}");
    }
    assert_eq!(files(&folder, "ro", &["chmod_missing"])["chmod_missing"], "ENOENT");
    assert_eq!(mode(), mode_before);
    let told = files(&folder, "ro", &[&CHANGES[..], &["rename_in", "symlink", "hardlink"]].concat());
    for (doing, came) in told.as_object().expect("an object") {
        assert_ne!(came, "done", "{doing}");
        if CHANGES.contains(&doing.as_str()) {
            assert_eq!(came, "EROFS", "{doing}");
        }
    }
    let names: BTreeSet<String> =
        fs::read_dir(&data).expect("listed").flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    let expected = ["a.txt", "empty", "inside", "out", "outdir", "r.txt", "sub", "u.txt", "w.txt"];
    assert_eq!(names, expected.map(str::to_owned).into());
    assert_eq!(fs::read_to_string(data.join("w.txt")).expect("read"), "w.txt");
    assert_eq!(fs::metadata(data.join("a.txt")).and_then(|metadata| metadata.modified()).expect("a time"), before);
}

#[test]
fn a_writable_mount_is_changed() {
    let folder = folder();
    let told = files(&folder, "rw", &CHANGES);
    for doing in CHANGES {
        assert_eq!(told[doing], "done", "{doing}: {told}");
    }
    for doing in ["chmod", "chmod_folder", "fchmod", "utime_folder"] {
        assert_eq!(files(&folder, "rw", &[doing])[doing], "done", "{doing}");
    }
    let data = folder.path().join("data");
    let folder_time = fs::metadata(data.join("sub")).and_then(|metadata| metadata.modified()).expect("a time");
    assert_eq!(folder_time, std::time::UNIX_EPOCH + Duration::from_secs(1));
    assert_eq!(fs::read_to_string(data.join("new.txt")).expect("read"), "new");
    assert_eq!(fs::read_to_string(data.join("renamed.txt")).expect("read"), "r.txt");
    assert!(data.join("made").is_dir() && !data.join("u.txt").exists() && !data.join("empty").exists());
}

#[test]
fn links_do_not_lead_out_and_pipes_do_not_hold_up() {
    let folder = folder();
    let pipe = folder.path().join("data/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let started = Instant::now();
    for mode in ["ro", "rw"] {
        let told = files(&folder, mode, &["inside_link", "read_out", "read_out_folder", "dots", "fifo"]);
        assert_eq!(told["inside_link"], "sub/b.txt");
        for doing in ["read_out", "read_out_folder", "dots", "fifo"] {
            let came = told[doing].as_str().expect("text");
            assert!(came.starts_with('E') && came != "EIO", "{doing}: {came}");
        }
    }
    assert!(started.elapsed() < Duration::from_secs(30));
}

// What a manifest asks for.

#[test]
fn a_skill_that_lacks_what_it_asks_for_is_refused() {
    let folder = folder();
    let params = json!({"url": format!("http://{NAME}/v1/x")});
    let refused = report("asks", params.clone(), Grants::default());
    assert!(matches!(refused.outcome, Outcome::Refused));
    assert_eq!(flags(&refused), ["--allow-http 'GET http://api.example.test/v1/*'", "--mount 'FOLDER:/data:ro'"]);
    let server = Server::start();
    // More is granted than asked for, and what was not asked for doesn't hold.
    let mut grants = server.grants(&["* http://api.example.test/*"]);
    let data = folder.path().join("data");
    grants.add(GrantKind::Mount, &format!("{}:/data:rw", data.display())).expect("a mount");
    let told = result(report("asks", params, grants.clone()));
    assert_eq!((&told["said"], &told["wrote"]), (&json!("GET /v1/x "), &json!(false)));
    let beyond = report("asks", json!({"url": format!("http://{NAME}/v2/x")}), grants);
    assert_eq!(flags(&beyond), ["--allow-http 'GET http://api.example.test/v2/x'"]);
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_permission_that_does_not_exist_is_refused() {
    let refused = report("misspelt", json!({}), Grants::default());
    assert!(matches!(refused.outcome, Outcome::Refused));
    assert_eq!(refused.denials[0].kind, DenialKind::Permissions);
    assert!(refused.denials[0].message.contains("permissions.netwrok"), "{}", refused.denials[0].message);
}

// Secrets.

const VALUE: &str = "s3cr3t-value+/=42";

fn secret_grants(server: &Server, folder: &tempfile::TempDir, host: &str) -> Grants {
    let file = folder.path().join("key");
    fs::write(&file, format!("{VALUE}\n")).expect("written");
    let mut grants = server.grants(&["POST http://api.example.test/v1/*"]);
    grants.add(GrantKind::Secret, &format!("API_KEY=file:{}@{host}", file.display())).expect("a secret");
    grants
}

fn everything(report: &Report) -> String {
    let envelope = serde_json::to_string(&report.envelope()).expect("JSON");
    format!("{envelope}{}{}", String::from_utf8_lossy(&report.stdout), String::from_utf8_lossy(&report.stderr))
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_secret_reaches_its_host_and_nobody_else() {
    let (server, folder) = (Server::start(), tempfile::tempdir().expect("a folder"));
    for raise in [false, true] {
        let params = json!({"url": format!("http://{NAME}/v1/echo"), "raise": raise});
        let report = report("secret", params, secret_grants(&server, &folder, "http://api.example.test"));
        let seen = server.seen().pop().expect("a request");
        assert!(seen.contains(&format!("X-Key: {VALUE}")) && seen.contains(&format!("body {VALUE}")), "{seen}");
        assert!(seen.contains("key=s3cr3t-value%2B%2F%3D42"), "{seen}");
        assert_eq!(matches!(report.outcome, Outcome::Raised(_)), raise, "{:?}", report.outcome);
        let left = everything(&report);
        assert!(left.contains("skillcell_secret_API_KEY_"));
        for form in [VALUE, "s3cr3t-value%2B", &hex(VALUE), "czNjcjN0LXZhbHVl"] {
            assert!(!left.contains(form), "{form} in {left}");
        }
    }
}

#[test]
fn a_secret_is_not_sent_where_it_is_not_granted() {
    let (server, folder) = (Server::start(), tempfile::tempdir().expect("a folder"));
    // Another host, and the same host without the word for plain http.
    for (host, reason) in [
        ("http://other.example.test", "it is granted for `http://other.example.test`, which is another host"),
        ("http://api.example.test:81", "it is granted for `http://api.example.test:81`, which is another port"),
        (NAME, "it is granted for `api.example.test` over https only"),
    ] {
        let params = json!({"url": format!("http://{NAME}/v1/echo")});
        let report = report("secret", params, secret_grants(&server, &folder, host));
        let seen = server.seen().pop().expect("a request");
        assert!(seen.contains("X-Key: skillcell_secret_API_KEY_") && !seen.contains(VALUE), "{host}: {seen}");
        assert!(!everything(&report).contains(VALUE));
        // And that is said.
        let note = format!(
            "the value of `API_KEY` was not put into a request to `http://{NAME}`, which got the placeholder: {reason}"
        );
        let envelope = serde_json::to_value(report.envelope()).expect("JSON");
        assert_eq!(envelope["notes"], json!([{"kind": "secret_not_used", "subject": "API_KEY", "message": note}]));
    }
}

#[test]
fn a_secret_comes_from_a_command() {
    let (server, folder) = (Server::start(), tempfile::tempdir().expect("a folder"));
    let file = folder.path().join("the key");
    fs::write(&file, format!("{VALUE}\n\n")).expect("written");
    let source = format!("cmd:cat '{}'", file.display());
    let mut flags = server.grants(&["POST http://api.example.test/v1/*"]);
    flags.add(GrantKind::Secret, &format!("API_KEY={source}@http://{NAME}")).expect("a secret");
    let id = fixture("grants/secret").id().to_owned();
    let text = format!(
        "[skill.\"{id}\"]\nallow_http = [\"POST http://{NAME}/v1/*\"]\n\
         resolve = [\"{NAME}:80:127.0.0.1:{}\"]\nsecret = [\"API_KEY={source}@http://{NAME}\"]",
        server.port
    );
    let policy = PolicyFile::parse(&text).expect("a policy");
    let from_file = policy.grants_for(&id);
    for grants in [flags, from_file] {
        assert_eq!(grants.secrets.len(), 1, "{text}");
        let report = report("secret", json!({"url": format!("http://{NAME}/v1/echo")}), grants);
        let seen = server.seen().pop().expect("a request");
        assert!(seen.contains(&format!("X-Key: {VALUE}\r\n")), "{seen}");
        assert!(!everything(&report).contains(VALUE));
    }
}

#[test]
fn a_command_that_fails_is_an_error_without_its_output() {
    let skill = fixture("grants/secret");
    for (command, expected) in [
        ("sh -c 'echo s3cr3t-text; echo s3cr3t-text >&2; exit 3'", "exit status: 3"),
        ("true", "printed nothing"),
        ("/nonexistent/keeper show", "can't start `/nonexistent/keeper`"),
    ] {
        let mut wanted = Call::new(json!({}));
        wanted.grants.add(GrantKind::Secret, &format!("API_KEY=cmd:{command}@{NAME}")).expect("a secret");
        let error = HOST.call(&skill, &wanted).expect_err("no value, no call");
        let text = format!(
            "{error}: {:?} {}",
            error,
            std::error::Error::source(&error).map_or(String::new(), ToString::to_string)
        );
        assert!(text.contains(expected) && text.contains("`API_KEY`") && !text.contains("s3cr3t-text"), "{text}");
    }
    for bad in ["cmd:", "cmd:  ", "cmd:'open", "cmd:'' x"] {
        let added = Grants::default().add(GrantKind::Secret, &format!("API_KEY={bad}@{NAME}"));
        assert!(added.is_err_and(|error| error.to_string().contains("names no program")), "{bad}");
    }
}

/// As Skillware's `SecretProvider` hands credentials over, with and without an image.
#[test]
fn a_placeholder_is_in_the_config_too() {
    let (server, folder) = (Server::start(), tempfile::tempdir().expect("a folder"));
    for (config, use_image) in [(None, true), (Some(json!({"mode": "fast", "API_KEY": "mine"})), true), (None, false)] {
        let mut wanted = Call::new(json!({"url": format!("http://{NAME}/v1/x")}));
        wanted.grants = secret_grants(&server, &folder, "http://api.example.test");
        wanted.use_image = use_image;
        wanted.config = config.clone();
        let told = result(call(&fixture("grants/configured"), &wanted));
        assert!(told["key"].as_str().is_some_and(|key| key.starts_with("skillcell_secret_API_KEY_")), "{told}");
        assert_eq!((&told["same"], &told["mode"]), (&json!(true), &config.map_or(Value::Null, |c| c["mode"].clone())));
        assert!(server.seen().pop().expect("a request").contains(&format!("X-Key: {VALUE}")));
    }
    let without = result(report("configured", json!({}), Grants::default()));
    assert_eq!(without, json!({"key": null, "same": true, "mode": null}));
    let bare = result(report("bare", json!({}), secret_grants(&server, &folder, NAME)));
    assert!(bare["key"].as_str().is_some_and(|key| key.starts_with("skillcell_secret_")), "{bare}");
    assert_eq!(bare["config"], json!({}));
}

// Paths.

fn with_paths(map_paths: bool, params: Value, mounts: &[String]) -> Report {
    let mut wanted = Call::new(params);
    wanted.map_paths = map_paths;
    mounts.iter().for_each(|mount| wanted.grants.add(GrantKind::Mount, mount).expect("a mount"));
    call(&fixture("grants/paths"), &wanted)
}

#[test]
fn paths_of_the_host_are_mapped_into_the_cell_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    fs::create_dir(&data).expect("made");
    fs::write(data.join("in.txt"), "some text").expect("written");
    std::os::unix::fs::symlink(&data, folder.path().join("link")).expect("linked");
    let mount = [format!("{}:/in/files:rw", folder.path().join("link").display())];
    let output = folder.path().join("link/out.txt").display().to_string();
    for given in [data.join("in.txt"), folder.path().join("link/./in.txt")] {
        let report = with_paths(true, json!({"input": given}), &mount);
        assert_eq!(report.stdout, b"/in/files/in.txt\n", "{report:?}");
        let told = result(report);
        let expected = json!({
            "output": output, "made": [{"path": output}], "text": "some text",
            "/in/files/out.txt": "a key", "note": "wrote /in/files/out.txt",
        });
        assert_eq!(told, expected);
        assert_eq!(fs::read_to_string(data.join("out.txt")).expect("written"), "SOME TEXT");
    }
    // Without the flag, and outside of the mount, a path of the host means nothing.
    for (mapped, given) in [(false, data.join("in.txt")), (true, folder.path().join("data/../in.txt"))] {
        let Outcome::Raised(raised) = with_paths(mapped, json!({"input": given}), &mount).outcome else {
            panic!("raised")
        };
        assert_eq!(raised.kind, "FileNotFoundError");
    }
}

#[test]
fn a_result_that_mapping_makes_too_long_is_over_its_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.txt"), "text").expect("written");
    let mut wanted = Call::new(json!({"input": folder.path().join("in.txt")}));
    wanted.map_paths = true;
    wanted.grants.add(GrantKind::Mount, &format!("{}:/d:rw", folder.path().display())).expect("a mount");
    wanted.limits.result_bytes = 120;
    let report = call(&fixture("grants/paths"), &wanted);
    assert!(
        matches!(report.outcome, Outcome::Exceeded(skillcell::LimitKind::ResultBytes, None)),
        "{:?}",
        report.outcome
    );
}

#[test]
fn a_compressed_answer_is_bounded_by_what_it_becomes() {
    let server = Server::start();
    let params = json!({"way": "requests", "url": format!("http://{NAME}/v1/zeros")});
    let asked = |cap| {
        let mut wanted = Call::new(params.clone());
        wanted.grants = server.grants(&["http://api.example.test/v1/*"]);
        wanted.limits.inflated_bytes = cap;
        result(call(&fixture("grants/web"), &wanted))
    };
    assert_eq!(asked(1 << 20)["text"].as_str().map(str::len), Some(1 << 20));
    let ended = asked((1 << 20) - 1);
    assert_eq!(ended["error"], "requests.exceptions.ChunkedEncodingError", "{ended}");
    assert!(ended["why"].as_str().is_some_and(|why| why.contains("decompressed, exceeds 1048575")), "{ended}");
}

#[test]
fn two_names_of_one_address_are_told_apart() {
    let server = Server::start();
    let mut grants = server.grants(&["http://api.example.test/v1/*", "http://other.example.test/v1/*"]);
    grants.add(GrantKind::Resolve, &format!("other.example.test:80:127.0.0.1:{}", server.port)).expect("a resolve");
    let params = json!({"way": "both", "url": "http://api.example.test/v1/x http://other.example.test/v1/x"});
    let report = report("web", params, grants);
    assert!(report.denials.is_empty(), "{:?}", report.denials);
    assert_eq!(result(report)["text"], "api.example.test 200|other.example.test 200");
}

#[test]
fn what_is_removed_while_it_is_listed_hides_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wanted = Call::new(json!({"places": ["/data", "/tmp"]}));
    wanted.grants.add(GrantKind::Mount, &format!("{}:/data:rw", folder.path().display())).expect("a mount");
    let gone = json!([1000, [1001, false]]);
    assert_eq!(returned(call(&fixture("grants/removes"), &wanted)), Ok(json!({"/data": gone, "/tmp": gone})));
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
}

#[test]
fn every_fixture_is_used() {
    let text = include_str!("grants.rs");
    for folder in fs::read_dir(tests().join("skills/grants")).expect("listed").flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(
            text.contains(&format!("\"{name}\"")) || text.contains(&format!("grants/{name}\"")),
            "no test runs `{name}`"
        );
    }
}
