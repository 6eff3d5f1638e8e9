//! The container tier, with a real engine and an image made of Debian's packages. Where no engine works, every test here
//! says so and counts as ignored.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use crate::common::trials::trial;
use crate::common::{debian, form, returned, server, tests};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use skillcell::{Call, Choice, Host, LimitKind, Outcome, Report, Roots, Skill, Tier};
use skillcell_policy::{GrantKind, Grants};
use skillcell_tiers::container::{Engine, Kind};

static HOST: LazyLock<Host> = LazyLock::new(|| {
    let builder = Host::builder().roots(Roots::new([])).container_base(debian::IMAGE);
    builder.build().expect("the cache folder can be used")
});

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    ("a_skill_with_a_dockerfile_answers_by_the_contract", a_skill_with_a_dockerfile_answers_by_the_contract),
    ("a_registry_skill_gives_what_a_cell_gives", a_registry_skill_gives_what_a_cell_gives),
    ("an_image_is_named_by_digest_or_refused", an_image_is_named_by_digest_or_refused),
    ("nothing_of_the_host_is_seen", nothing_of_the_host_is_seen),
    ("params_that_are_wrong_are_refused_by_our_runner", params_that_are_wrong_are_refused_by_our_runner),
    ("what_is_printed_comes_apart", what_is_printed_comes_apart),
    ("children_end_with_the_call", children_end_with_the_call),
    ("a_deaf_skill_is_ended_at_the_deadline", a_deaf_skill_is_ended_at_the_deadline),
    ("a_fork_bomb_is_ended_at_the_deadline", a_fork_bomb_is_ended_at_the_deadline),
    ("a_container_that_is_only_being_made_goes_too", a_container_that_is_only_being_made_goes_too),
    ("memory_is_bounded", memory_is_bounded),
    ("a_full_disk_is_the_skills_own", a_full_disk_is_the_skills_own),
    ("files_are_counted_though_they_take_no_bytes", files_are_counted_though_they_take_no_bytes),
    ("no_trap_is_left_in_a_folder", no_trap_is_left_in_a_folder),
    ("no_namespace_is_made", no_namespace_is_made),
    (
        "a_folder_that_it_can_t_use_or_that_has_a_socket_is_refused",
        a_folder_that_it_can_t_use_or_that_has_a_socket_is_refused,
    ),
    ("a_flood_is_ended", a_flood_is_ended),
    ("garbage_is_no_answer", garbage_is_no_answer),
    ("http_goes_through_the_proxy_if_granted", http_goes_through_the_proxy_if_granted),
    ("mounts_are_read_only_unless_granted", mounts_are_read_only_unless_granted),
    ("only_granted_names_are_in_the_environment", only_granted_names_are_in_the_environment),
    ("the_operators_proxy_stays_outside", the_operators_proxy_stays_outside),
    ("no_place_to_write_is_without_bound", no_place_to_write_is_without_bound),
    ("an_exit_status_is_the_skills_word", an_exit_status_is_the_skills_word),
    ("a_build_fetches_nothing", a_build_fetches_nothing),
    (
        "the_image_that_a_manifest_names_is_pulled_on_the_operators_word",
        the_image_that_a_manifest_names_is_pulled_on_the_operators_word,
    ),
    ("a_pdf_form_is_filled_as_natively", a_pdf_form_is_filled_as_natively),
];

pub fn trials() -> Vec<Trial> {
    static MISSING: LazyLock<Option<String>> = LazyLock::new(missing);
    let trial = |&(name, test): &Test| trial(format!("container::{name}"), || MISSING.clone(), test);
    TESTS.iter().map(trial).collect()
}

/// What keeps containers from running here.
fn missing() -> Option<String> {
    let engine = match Engine::of_machine() {
        Ok(engine) => engine,
        Err(error) => return Some(error.to_string()),
    };
    debian::base(engine.kind.program()).err().map(|why| format!("no base image could be made: {why}"))
}

fn skill(path: &str) -> Skill {
    let folder = tests().join(path);
    HOST.skill(folder.to_str().expect("a plain path")).expect("a skill")
}

fn contained(params: Value) -> Call {
    let mut call = Call::new(params);
    call.tier = Choice::Tier(Tier::Container);
    call
}

fn make(skill: &Skill, call: &Call) -> Report {
    let report = HOST.call(skill, call).unwrap_or_else(|error| panic!("{}: {error}", skill.id()));
    assert_eq!(containers(), "", "no container is left");
    report
}

fn wild(params: Value) -> Report {
    make(&skill("skills/container/wild"), &contained(params))
}

/// The ids of this process's containers that are there.
fn containers() -> String {
    let engine = Engine::of_machine().expect("an engine");
    let filter = format!("label=org.skillcell.call={}", std::process::id());
    let output = Command::new(engine.kind.program())
        .args(["ps", "--all", "--quiet", "--filter", &filter])
        .output()
        .expect("the engine");
    let mut found = String::from_utf8_lossy(&output.stdout).into_owned();
    if engine.kind == Kind::Podman {
        // Those that got as far as its storage only.
        let output = Command::new(engine.kind.program())
            .args(["ps", "--all", "--quiet", "--external", "--filter", "name=skillcell-"])
            .output();
        found.push_str(&String::from_utf8_lossy(&output.expect("the engine").stdout));
    }
    found
}

/// It is ended within a second of its deadline, whatever it does. A machine that is busy with something else gets a second
/// and a third chance.
fn ended_in_time(params: Value) {
    let skill = skill("skills/container/wild");
    make(&skill, &contained(json!({"do": "prints"}))); // its image is made
    let mut call = contained(params.clone());
    call.limits.deadline = Duration::from_secs(3);
    let report = make(&skill, &call);
    assert!(matches!(report.outcome, Outcome::Exceeded(LimitKind::Deadline, _)), "{params}: {:?}", report.outcome);
}

fn a_skill_with_a_dockerfile_answers_by_the_contract() {
    let skill = skill("../skills-compat/demo/in_container");
    let result = returned(make(&skill, &contained(json!({"text": "one two three"})))).expect("a result");
    assert_eq!(result["words"], 3);
    assert_eq!(result["ran_in"], "a container of its own");
    assert_ne!(result["user"], 0);
    let mut isolated = Call::new(json!({"text": "one two three"}));
    isolated.tier = Choice::Isolated;
    let report = make(&skill, &isolated);
    assert_eq!(report.tier, Tier::Container, "its image is the skill: it runs nowhere else");
    assert_eq!(returned(report).expect("a result"), result);
}

fn a_registry_skill_gives_what_a_cell_gives() {
    let skill = HOST.skill("optimization/prompt_rewriter").expect("a skill");
    let params = json!({"raw_text": "Could you please kindly make this shorter"});
    let here = returned(make(&skill, &contained(params.clone()))).expect("a result");
    let mut call = Call::new(params);
    call.tier = Choice::Tier(Tier::Wasm);
    assert_eq!(here, returned(make(&skill, &call)).expect("a result"));
}

fn an_image_is_named_by_digest_or_refused() {
    let skill = skill("skills/container/tagged");
    let error = HOST.call(&skill, &contained(json!({}))).expect_err("a tag is no digest").to_string();
    assert!(error.contains("names no digest"), "{error}");
}

fn nothing_of_the_host_is_seen() {
    let server = server::Server::start(None, |_| Some(server::answer("200 OK", &[], "reached")));
    let secret = tempfile::NamedTempFile::new().expect("a file");
    let params = json!({"do": "looks", "host_file": secret.path(), "port": server.port});
    let seen = returned(wild(params)).expect("a result");
    assert_ne!(seen["user"], 0, "{seen}");
    assert_eq!(seen["capabilities"], "0000000000000000", "{seen}");
    assert_eq!(seen["no_new_privileges"], "1", "{seen}");
    assert_eq!(seen["interfaces"], json!(["lo"]), "{seen}");
    assert_eq!(seen["home"], "/home/skill", "{seen}");
    assert!(seen["processes"].as_array().expect("a list").len() <= 2, "{seen}");
    for place in ["write_root", "write_skill"] {
        assert!(["OSError", "PermissionError"].contains(&seen[place].as_str().unwrap_or("written")), "{place}: {seen}");
    }
    assert_eq!(seen["write_scratch"], true, "{seen}");
    assert_eq!(seen["host_file"], false, "its /tmp is its own: {seen}");
    assert_eq!(seen["connect"], "ConnectionRefusedError", "{seen}");
    assert_eq!(server.connections(), 0);
    let names: Vec<&str> = seen["environment"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(!names.iter().any(|name| name.contains("CARGO") || *name == "USER"), "{names:?}");
}

fn params_that_are_wrong_are_refused_by_our_runner() {
    let report = wild(json!([]));
    let words = "SkillwareParamValidationError: Skill 'container/wild' expects parameter arguments as a JSON object (dict), \
                 got list.";
    assert!(report.outcome.describe().ends_with(words), "{:?}", report.outcome);
}

fn what_is_printed_comes_apart() {
    let report = wild(json!({"do": "prints"}));
    assert_eq!(String::from_utf8_lossy(&report.stdout), "to stdout\nfrom a child\n");
    assert_eq!(String::from_utf8_lossy(&report.stderr), "to stderr\n");
    assert_eq!(returned(report).expect("a result"), "printed");
}

fn children_end_with_the_call() {
    assert_eq!(returned(wild(json!({"do": "forks"}))).expect("a result"), "forked");
}

fn a_deaf_skill_is_ended_at_the_deadline() {
    ended_in_time(json!({"do": "hangs"}));
}

fn a_fork_bomb_is_ended_at_the_deadline() {
    ended_in_time(json!({"do": "bombs"}));
}

fn a_container_that_is_only_being_made_goes_too() {
    let skill = skill("skills/container/wild");
    make(&skill, &contained(json!({"do": "prints"}))); // its image is made
    for ms in [0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 240, 280, 320] {
        let mut call = contained(json!({"do": "hangs"}));
        call.limits.deadline = Duration::from_millis(ms);
        let report = make(&skill, &call);
        assert!(matches!(report.outcome, Outcome::Exceeded(LimitKind::Deadline, _)), "{ms}: {:?}", report.outcome);
    }
    returned(make(&skill, &contained(json!({"do": "prints"})))).expect("the next call is unharmed");
}

fn memory_is_bounded() {
    let report = wild(json!({"do": "memory"}));
    assert!(matches!(report.outcome, Outcome::Exceeded(LimitKind::Memory, _)), "{:?}", report.outcome);
    assert!(!std::path::Path::new("oom").exists(), "Podman's monitor leaves no file of that name here");
}

fn a_full_disk_is_the_skills_own() {
    let report = wild(json!({"do": "fills"}));
    assert!(matches!(report.outcome, Outcome::Exceeded(LimitKind::ScratchBytes, _)), "{:?}", report.outcome);
}

fn files_are_counted_though_they_take_no_bytes() {
    for folder in ["/tmp", "/home/skill", "/dev/shm"] {
        let report = wild(json!({"do": "floods_with_files", "folder": folder}));
        let counted = matches!(report.outcome, Outcome::Exceeded(LimitKind::ScratchFiles | LimitKind::ScratchBytes, _));
        assert!(counted, "{folder}: {:?}", report.outcome);
    }
}

/// A folder that every user may write to, whoever a container runs as.
fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("opened");
    folder
}

fn mounted(params: Value, folder: &std::path::Path) -> Report {
    let mut call = contained(params);
    call.grants.add(GrantKind::Mount, &format!("{}:/data:rw", folder.display())).expect("a mount");
    make(&skill("skills/container/wild"), &call)
}

fn no_trap_is_left_in_a_folder() {
    let folder = open_folder();
    let seen = returned(mounted(json!({"do": "leaves_traps", "folder": "/data"}), folder.path())).expect("a result");
    let refused = "PermissionError";
    let expected = json!({
        "symbolic": refused, "hard": refused, "set_user": refused, "set_group": refused, "plain_mode": "done"
    });
    assert_eq!(seen, expected);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, ["plain"]);
}

fn no_namespace_is_made() {
    let seen = returned(wild(json!({"do": "makes_namespaces"}))).expect("a result");
    let refused = "Operation not permitted";
    assert_eq!(seen, json!({"user": refused, "net": refused, "mount": refused, "none": 0}));
}

fn a_folder_that_it_can_t_use_or_that_has_a_socket_is_refused() {
    let folder = open_folder();
    let _service = std::os::unix::net::UnixListener::bind(folder.path().join("service")).expect("a socket");
    let report = mounted(json!({"do": "prints"}), folder.path());
    assert!(matches!(report.outcome, Outcome::Refused), "{:?}", report.outcome);
    assert!(report.denials[0].message.contains("`service` in it is a socket"), "{:?}", report.denials);
    if Engine::of_machine().expect("an engine").rootless {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder of its owner alone");
    let report = mounted(json!({"do": "prints"}), folder.path());
    assert!(matches!(report.outcome, Outcome::Refused), "{:?}", report.outcome);
    assert!(report.denials[0].message.contains("may not write to"), "{:?}", report.denials);
}

fn a_flood_is_ended() {
    for (to, limit) in [(1, LimitKind::StdoutBytes), (2, LimitKind::StderrBytes)] {
        let report = wild(json!({"do": "floods", "to": to}));
        assert!(matches!(report.outcome, Outcome::Exceeded(found, _) if found == limit), "{to}: {:?}", report.outcome);
    }
}

fn garbage_is_no_answer() {
    let report = wild(json!({"do": "garbage"}));
    let Outcome::Raised(raised) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(raised.kind, "ContainerError", "{}", raised.message);
}

fn http_goes_through_the_proxy_if_granted() {
    let server = server::Server::start(None, |_| Some(server::answer("200 OK", &[], "hello")));
    let skill = skill("skills/container/wild");
    let mut call = contained(json!({"do": "fetches", "url": "http://api.example.test/x"}));
    let refused = make(&skill, &call);
    assert_eq!(refused.denials.len(), 1, "{:?}", refused.denials);
    assert_eq!(server.connections(), 0);
    call.grants = Grants::default();
    call.grants.add(GrantKind::Resolve, &format!("api.example.test:80:127.0.0.1:{}", server.port)).expect("a resolve");
    call.grants.add(GrantKind::AllowHttp, "http://api.example.test/*").expect("a rule");
    let report = make(&skill, &call);
    assert_eq!(returned(report).expect("a result"), json!({"status": 200, "text": "hello"}));
}

fn mounts_are_read_only_unless_granted() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |path: &std::path::Path, mode: &str| {
        assert!(Command::new("chmod").arg(mode).arg(path).status().expect("chmod").success());
    };
    open(folder.path(), "777");
    std::fs::write(folder.path().join("in"), "text").expect("written");
    open(&folder.path().join("in"), "644");
    let skill = skill("skills/container/wild");
    let mut call = contained(json!({"do": "files", "read": "/data/in", "write": "/data/out"}));
    call.grants.add(GrantKind::Mount, &format!("{}:/data", folder.path().display())).expect("a mount");
    let report = make(&skill, &call);
    let Outcome::Raised(raised) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert!(raised.message.contains("Read-only file system"), "{}", raised.message);
    call.grants = Grants::default();
    call.grants.add(GrantKind::Mount, &format!("{}:/data:rw", folder.path().display())).expect("a mount");
    assert_eq!(returned(make(&skill, &call)).expect("a result"), "text");
    assert_eq!(std::fs::read_to_string(folder.path().join("out")).expect("it is there"), "TEXT");
}

fn only_granted_names_are_in_the_environment() {
    let skill = skill("skills/container/wild");
    let mut call = contained(json!({"do": "says", "name": "GIVEN"}));
    assert_eq!(returned(make(&skill, &call)).expect("a result"), Value::Null);
    for value in ["plain", "two\nlines", "", "with = and \"quotes\""] {
        call.env.insert("GIVEN".to_owned(), value.to_owned());
        assert_eq!(returned(make(&skill, &call)).expect("a result"), value);
    }
}

/// Engines pass it on unless they are told not to, with its password.
fn the_operators_proxy_stays_outside() {
    let wild = tests().join("skills/container/wild");
    for name in ["HTTP_PROXY", "https_proxy"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.args(["run", wild.to_str().expect("a plain path"), "--tier", "container", "--params"]);
        command.arg(json!({"do": "says", "name": name}).to_string());
        command.env("SKILLCELL_CONTAINER_BASE", debian::IMAGE).env(name, "http://me:password@127.0.0.1:9");
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(["null", "\"\""].contains(&said.trim()), "{name}: {said} {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn no_place_to_write_is_without_bound() {
    let places = returned(wild(json!({"do": "writes"}))).expect("a result");
    for (place, megabytes) in places.as_object().expect("an object") {
        assert!(megabytes.as_u64().is_some_and(|size| size <= 64), "{place}: {megabytes} MiB");
    }
    assert!(places.get("/tmp").is_some(), "{places}");
}

fn an_exit_status_is_the_skills_word() {
    for (status, kind) in [(0, "ContainerError"), (3, "SystemExit"), (126, "SystemExit"), (127, "SystemExit")] {
        let report = wild(json!({"do": "exits", "status": status}));
        let Outcome::Raised(raised) = &report.outcome else { panic!("{:?}", report.outcome) };
        assert_eq!(raised.kind, kind, "{status}: {}", raised.message);
    }
}

/// Not as the engine itself, either, which is not held by the build's lack of a network.
fn a_build_fetches_nothing() {
    let server = server::Server::start(None, |_| Some(server::answer("200 OK", &[], "hello")));
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["skill.py", "manifest.yaml"] {
        std::fs::copy(tests().join("skills/container/wild").join(name), folder.path().join(name)).expect("copied");
    }
    let at = format!("127.0.0.1:{}", server.port);
    for line in [
        format!("ADD http://{at}/x /x"),
        format!("COPY --from={at}/a/b /x /x"),
        "RUN --mount=type=cache,target=/x ls".to_owned(),
    ] {
        std::fs::write(folder.path().join("Dockerfile"), format!("ARG BASE\nFROM ${{BASE}}\n{line}\n"))
            .expect("written");
        let skill = HOST.skill(folder.path().to_str().expect("a plain path")).expect("a skill");
        let error = HOST.call(&skill, &contained(json!({"do": "prints"}))).expect_err(&line);
        assert!(error.to_string().contains("built"), "{line}: {error}");
    }
    assert_eq!(server.connections(), 0);
}

/// Where an image is pulled from is up to whoever names it.
fn the_image_that_a_manifest_names_is_pulled_on_the_operators_word() {
    let server = server::Server::start(None, |_| Some(server::answer("404 Not Found", &[], "no")));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(tests().join("skills/container/wild/skill.py"), folder.path().join("skill.py")).expect("copied");
    let image = format!("127.0.0.1:{}/a/b@sha256:{}", server.port, "0".repeat(64));
    let manifest = format!("name: names\nversion: 0.1.0\nexecution: container\ncontainer:\n  image: {image}\n");
    std::fs::write(folder.path().join("manifest.yaml"), manifest).expect("written");
    let path = folder.path().to_str().expect("a plain path");
    let skill = HOST.skill(path).expect("a skill");
    let mut isolated = Call::new(json!({}));
    isolated.tier = Choice::Isolated;
    for call in [contained(json!({})), isolated] {
        let report = make(&skill, &call);
        assert!(matches!(report.outcome, Outcome::Refused), "{report:?}");
        assert!(report.denials[0].message.contains(&format!(" pull {image}`")), "{report:?}");
    }
    let on_word = |offline: bool| {
        let builder = Host::builder().roots(Roots::new([])).allow_build_network(true).offline(offline);
        let host = builder.build().expect("the cache folder can be used");
        host.call(&skill, &contained(json!({}))).expect_err("there is no such image").to_string()
    };
    let error = on_word(true);
    assert!(error.contains("can't be pulled: `--offline`"), "{error}");
    assert_eq!(server.connections(), 0, "nobody was asked");
    let error = on_word(false);
    assert!(error.contains("can't be pulled") && server.connections() > 0, "with the word it is: {error}");
}

fn a_pdf_form_is_filled_as_natively() {
    form::is_filled_as_natively(&HOST, Choice::Tier(Tier::Container), |_| "/out".to_owned());
}
