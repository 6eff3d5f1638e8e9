//! The tiers besides cells: which is chosen, what a process can't do to its host, and that nothing is left of it.
//!
//! What is promised of a process is asked of both sandboxes: of the one that this machine takes, and, by starting this
//! program again with `SKILLCELL_SANDBOX=landlock`, of Landlock and seccomp alone (`landlock::…`). Where one does not work
//! here, what needs it is ignored, with the reason, and is not counted as passed.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::common::server::{Authority, Server, answer};
use crate::common::trials::trial;
use crate::common::{fixture, form, host_builder, returned, sandbox_choice, server, tests};
use libtest_mimic::Trial;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use skillcell::{Approvals, AuditLog, Call, Choice, Decision, Host, LimitKind, Outcome, Report, RuntimeKind, Tier};
use skillcell_policy::{DenialKind, GrantKind, Grants, Permissions, TierRules};
use skillcell_tiers as tier;

static AUTHORITY: LazyLock<Authority> = LazyLock::new(Authority::new);
static HOST: LazyLock<Host> = LazyLock::new(|| {
    let trusted = AUTHORITY.file.path().to_owned();
    host_builder().ca_files([trusted]).build().expect("the cache folder can be used")
});

/// What a test can't do without.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Sandbox,
    /// The sandbox that has no namespaces.
    Landlock,
}

const TESTS: &[(Needs, &str, fn())] = &[
    (
        Needs::Sandbox,
        "a_daemon_that_is_deaf_to_signals_ends_with_its_call",
        a_daemon_that_is_deaf_to_signals_ends_with_its_call,
    ),
    (Needs::Sandbox, "processes_memory_files_and_output_are_bounded", processes_memory_files_and_output_are_bounded),
    (
        Needs::Sandbox,
        "garbage_on_the_channel_and_a_process_that_dies_are_outcomes",
        garbage_on_the_channel_and_a_process_that_dies_are_outcomes,
    ),
    (Needs::Sandbox, "params_are_checked_in_a_process_as_in_a_cell", params_are_checked_in_a_process_as_in_a_cell),
    (
        Needs::Sandbox,
        "what_it_prints_is_apart_from_its_result_and_its_input_is_empty",
        what_it_prints_is_apart_from_its_result_and_its_input_is_empty,
    ),
    (Needs::Sandbox, "nothing_of_the_host_is_in_reach", nothing_of_the_host_is_in_reach),
    (
        Needs::Sandbox,
        "a_flood_of_empty_files_is_ended_before_it_takes_much",
        a_flood_of_empty_files_is_ended_before_it_takes_much,
    ),
    (
        Needs::Sandbox,
        "a_service_with_its_socket_in_a_granted_folder_is_out_of_reach",
        a_service_with_its_socket_in_a_granted_folder_is_out_of_reach,
    ),
    (Needs::Sandbox, "pairs_of_sockets_and_pipes_work", pairs_of_sockets_and_pipes_work),
    (Needs::Sandbox, "a_mount_on_the_tiers_own_places_is_refused", a_mount_on_the_tiers_own_places_is_refused),
    (Needs::Sandbox, "nothing_is_left_of_a_call", nothing_is_left_of_a_call),
    (
        Needs::Sandbox,
        "a_cancelled_call_ends_at_once_with_its_processes",
        a_cancelled_call_ends_at_once_with_its_processes,
    ),
    (
        Needs::Sandbox,
        "http_goes_through_the_same_rules_as_from_a_cell",
        http_goes_through_the_same_rules_as_from_a_cell,
    ),
    (
        Needs::Sandbox,
        "a_manifest_or_a_missing_package_chooses_only_what_policy_allows",
        a_manifest_or_a_missing_package_chooses_only_what_policy_allows,
    ),
    (
        Needs::Sandbox,
        "a_skill_that_asks_for_another_tier_is_never_imported_in_a_cell",
        a_skill_that_asks_for_another_tier_is_never_imported_in_a_cell,
    ),
    (Needs::Sandbox, "the_audit_says_where_a_call_ran", the_audit_says_where_a_call_ran),
    (Needs::Sandbox, "a_list_binds_cells_as_any_other_tier", a_list_binds_cells_as_any_other_tier),
    (
        Needs::Nothing,
        "isolated_is_the_strongest_whatever_a_manifest_asks",
        isolated_is_the_strongest_whatever_a_manifest_asks,
    ),
    (
        Needs::Nothing,
        "a_machine_without_an_engine_says_what_to_install",
        a_machine_without_an_engine_says_what_to_install,
    ),
    (Needs::Nothing, "what_a_skill_raises_is_never_the_hosts_word", what_a_skill_raises_is_never_the_hosts_word),
    (
        Needs::Nothing,
        "nonsense_for_a_tier_is_refused_with_what_decides_instead",
        nonsense_for_a_tier_is_refused_with_what_decides_instead,
    ),
    (Needs::Sandbox, "the_kernels_own_files_are_read_only", the_kernels_own_files_are_read_only),
    (
        Needs::Sandbox,
        "of_the_kernels_files_only_what_programs_ask_for_is_shown",
        of_the_kernels_files_only_what_programs_ask_for_is_shown,
    ),
    (
        Needs::Sandbox,
        "a_file_that_may_only_be_read_is_not_locked_against_its_owner",
        a_file_that_may_only_be_read_is_not_locked_against_its_owner,
    ),
    (Needs::Sandbox, "a_stream_that_was_given_away_is_not_waited_for", a_stream_that_was_given_away_is_not_waited_for),
    (Needs::Sandbox, "memory_that_is_shared_is_bounded_too", memory_that_is_shared_is_bounded_too),
    (Needs::Sandbox, "no_file_is_left_that_runs_as_the_operator", no_file_is_left_that_runs_as_the_operator),
    (Needs::Sandbox, "what_may_only_be_read_can_t_be_changed", what_may_only_be_read_can_t_be_changed),
    (Needs::Sandbox, "no_capability_is_left", no_capability_is_left),
    (Needs::Sandbox, "a_process_ends_with_its_host", a_process_ends_with_its_host),
    (Needs::Sandbox, "files_may_be_copied_with_their_modes_and_times", files_may_be_copied_with_their_modes_and_times),
    (
        Needs::Landlock,
        "what_no_namespace_keeps_apart_is_refused_and_its_twin_works",
        what_no_namespace_keeps_apart_is_refused_and_its_twin_works,
    ),
    (Needs::Landlock, "what_is_taken_of_the_disk_in_any_way_counts", what_is_taken_of_the_disk_in_any_way_counts),
    (Needs::Landlock, "a_folder_is_mounted_where_it_is_or_refused", a_folder_is_mounted_where_it_is_or_refused),
    (Needs::Nothing, "without_isolation_only_what_is_trusted_runs", without_isolation_only_what_is_trusted_runs),
    (
        Needs::Nothing,
        "a_sandbox_or_engine_that_is_installed_later_is_found",
        a_sandbox_or_engine_that_is_installed_later_is_found,
    ),
    (
        Needs::Sandbox,
        "a_pdf_is_filled_through_a_mount_by_a_package_that_no_cell_has",
        a_pdf_is_filled_through_a_mount_by_a_package_that_no_cell_has,
    ),
];

/// Each by its own name, and again as `landlock::…` where that is not the sandbox anyway.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for &(needs, name, test) in TESTS {
        if needs != Needs::Landlock || alone() {
            let missing = move || HERE.clone().err().filter(|_| needs != Needs::Nothing);
            trials.push(trial(format!("subprocess::{name}"), missing, test));
        }
        if needs != Needs::Nothing && !alone() {
            let missing = || LANDLOCK.clone().err();
            trials.push(trial(format!("landlock::{name}"), missing, move || again_with_landlock(name)));
        }
    }
    trials
}

/// The sandbox that this machine takes, and Landlock with seccomp alone.
static HERE: LazyLock<Result<String, String>> =
    LazyLock::new(|| tier::available(Tier::Subprocess, sandbox_choice()).map_err(|error| error.to_string()));
static LANDLOCK: LazyLock<Result<String, String>> = LazyLock::new(landlock_by_itself);

/// What `skillcell doctor` says of the tier if the sandbox is to be that one.
fn landlock_by_itself() -> Result<String, String> {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    let output = doctor.args(["doctor", "--json"]).env("SKILLCELL_SANDBOX", "landlock").output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = said["checks"].as_array().unwrap();
    let tier = checks.iter().find(|check| check["check"] == "tier subprocess").unwrap();
    let detail = tier["detail"].as_str().unwrap().to_owned();
    if tier["state"] == "ok" { Ok(detail) } else { Err(detail) }
}

/// Which sandbox there is, is found once in a process.
fn again_with_landlock(name: &str) {
    let mut again = Command::new(std::env::current_exe().unwrap());
    let output =
        again.args(["--exact", &format!("subprocess::{name}")]).env("SKILLCELL_SANDBOX", "landlock").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

fn call(params: Value) -> Call {
    let mut call = Call::new(params);
    call.tier = Choice::Tier(Tier::Subprocess);
    call
}

fn run(skill: &str, call: &Call) -> Report {
    HOST.call(&fixture(skill), call).unwrap_or_else(|error| panic!("{skill}: {error}"))
}

fn hostile(params: Value) -> Report {
    run("tiers/hostile", &call(params))
}

fn exceeded(report: &Report) -> Option<LimitKind> {
    match report.outcome {
        Outcome::Exceeded(limit, _) => Some(limit),
        _ => None,
    }
}

fn raised(report: Report) -> (String, String) {
    match report.outcome {
        Outcome::Raised(raised) => (raised.kind, raised.message),
        other => panic!("{other:?}"),
    }
}

/// Whether the sandbox of this process is the one without namespaces, and so without paths of its own.
fn alone() -> bool {
    HERE.as_ref().is_ok_and(|what| what.starts_with("Landlock"))
}

/// Where a skill sees a folder that it was granted.
fn seen(folder: &Path) -> String {
    if alone() { folder.canonicalize().unwrap().display().to_string() } else { "/out".to_owned() }
}

fn mounted(mut call: Call, folder: &Path, mode: &str) -> Call {
    call.grants.add(GrantKind::Mount, &format!("{}:{}:{mode}", folder.display(), seen(folder))).expect("a mount");
    call
}

fn with_folder(call: Call, folder: &Path) -> Call {
    mounted(call, folder, "rw")
}

/// The one that there is without namespaces, or the other.
fn either<T>(without: T, with: T) -> T {
    if alone() { without } else { with }
}

fn a_daemon_that_is_deaf_to_signals_ends_with_its_call() {
    for then in ["return", "hang"] {
        let folder = tempfile::tempdir().unwrap();
        let params = json!({"do": "beat", "out": seen(folder.path()), "then": then});
        let mut call = with_folder(call(params), folder.path());
        call.limits.deadline = Duration::from_secs(if then == "hang" { 8 } else { 60 });
        let report = run("tiers/hostile", &call);
        if then == "hang" {
            assert_eq!(exceeded(&report), Some(LimitKind::Deadline), "{report:?}");
        } else {
            assert_eq!(returned(report).unwrap(), json!({"ok": true}));
        }
        let beat = fs::read_to_string(folder.path().join("beat")).unwrap();
        std::thread::sleep(Duration::from_millis(400));
        assert_eq!(fs::read_to_string(folder.path().join("beat")).unwrap(), beat, "it lives on");
    }
}

fn processes_memory_files_and_output_are_bounded() {
    let bomb = returned(hostile(json!({"do": "bomb"}))).unwrap();
    assert_eq!(bomb["error"], "BlockingIOError", "{bomb}");
    assert!(bomb["children"].as_u64().unwrap() < 64, "{bomb}");
    assert_eq!(exceeded(&hostile(json!({"do": "hog"}))), Some(LimitKind::Memory));
    assert_eq!(exceeded(&hostile(json!({"do": "opens"}))), Some(LimitKind::OpenFiles));
    for folder in either(&["$TMPDIR", "$HOME"][..], &["/tmp", "/home/skill", "/dev/shm"]) {
        let report = hostile(json!({"do": "fill", "folder": folder}));
        assert_eq!(exceeded(&report), Some(LimitKind::ScratchBytes), "{folder}: {report:?}");
    }
    let (kind, message) = raised(hostile(json!({"do": "fill", "folder": "/"})));
    let expected = either(("PermissionError", "Permission denied"), ("OSError", "Read-only file system"));
    assert_eq!((kind.as_str(), message.contains(expected.1)), (expected.0, true), "{message}");
    assert_eq!(exceeded(&hostile(json!({"do": "flood", "descriptor": 1}))), Some(LimitKind::StdoutBytes));
    assert_eq!(exceeded(&hostile(json!({"do": "flood", "descriptor": 2}))), Some(LimitKind::StderrBytes));
}

fn garbage_on_the_channel_and_a_process_that_dies_are_outcomes() {
    for what in ["hello, host", "\0\0\0\0\0", "\u{ff}\u{ff}\u{ff}\u{ff}F"] {
        let (kind, message) = raised(hostile(json!({"do": "spill", "what": what})));
        assert_eq!((kind.as_str(), message.contains("no frame")), ("CellCrash", true), "{what:?}: {message}");
    }
    let over = hostile(json!({"do": "spill", "what": "\u{ff}\u{ff}\u{ff}\u{ff}G"}));
    assert_eq!(exceeded(&over), Some(LimitKind::ResultBytes));
    let (kind, message) = raised(hostile(json!({"do": "leave", "status": 3})));
    assert_eq!((kind.as_str(), message.contains("status 3")), ("SystemExit", true), "{message}");
    let (kind, message) = raised(hostile(json!({"do": "leave", "status": 137})));
    let expected = either(("SystemExit", "with status 137"), ("CellCrash", "signal 9, or by itself with status 137"));
    assert_eq!((kind.as_str(), message.contains(expected.1)), (expected.0, true), "{message}");
    let (kind, message) = raised(hostile(json!({"do": "crash"})));
    assert_eq!((kind.as_str(), message.contains("signal 11")), ("CellCrash", true), "{message}");
}

fn params_are_checked_in_a_process_as_in_a_cell() {
    let skill = fixture("contract/strict");
    for params in [json!({}), json!({"text": 1}), json!({"text": "x"}), json!([])] {
        let outcomes = [Tier::Wasm, Tier::Subprocess].map(|tier| {
            let mut call = Call::new(params.clone());
            call.tier = Choice::Tier(tier);
            let report = HOST.call(&skill, &call).unwrap();
            assert_eq!(report.tier, tier);
            report.outcome.describe()
        });
        assert_eq!(outcomes[0], outcomes[1]);
        let kind = "skillware.core.base_skill.SkillwareParamValidationError: Skill 'contract/strict' ";
        assert!(outcomes[0].starts_with(kind), "{params}: {}", outcomes[0]);
    }
}

fn what_it_prints_is_apart_from_its_result_and_its_input_is_empty() {
    let report = hostile(json!({"do": "prints"}));
    assert_eq!(report.stdout, b"{\"schema\": 1, \"outcome\": \"returned\"}\n");
    assert_eq!(report.stderr, b"on stderr\n");
    assert_eq!(report.tier, Tier::Subprocess);
    assert!(report.usage.memory_peak_bytes > 4 << 20, "{:?}", report.usage);
    assert_eq!(returned(report).unwrap(), json!({"stdin": ""}));
}

fn nothing_of_the_host_is_in_reach() {
    let mine = std::process::id();
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "canary").unwrap();
    let environ = format!("/proc/{mine}/environ");
    let paths = [secret.to_str().unwrap(), &environ, "/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/sys/kernel"];
    let seen = returned(hostile(json!({"do": "sees", "paths": paths}))).unwrap();
    for (path, content) in seen.as_object().unwrap() {
        let content = content.as_str().unwrap();
        let harmless = content.ends_with("Error") || (path == "/proc/1/environ" && !content.contains("CARGO"));
        assert!(harmless, "{path}: {content:?}");
    }
    let held = fs::File::open(&secret).unwrap();
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).unwrap();
    let holds = returned(hostile(json!({"do": "holds"}))).unwrap();
    drop(held);
    // The input, what it prints to, its channel, and where connections come from.
    assert_eq!(holds, json!(["null", "pipe", "pipe", "socket", "socket"]));
    let name = format!("skillcell-test-{mine}");
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    assert_eq!(raised(hostile(json!({"do": "reaches", "abstract": name}))).0, "PermissionError");
    let unknown = either("PermissionError", "ProcessLookupError");
    assert_eq!(raised(hostile(json!({"do": "kills", "pid": mine}))).0, unknown);
}

/// As root it is root to the kernel, which asks for no capability there.
fn the_kernels_own_files_are_read_only() {
    assert_eq!(returned(hostile(json!({"do": "writes_in_proc"}))).unwrap(), json!([]));
}

fn of_the_kernels_files_only_what_programs_ask_for_is_shown() {
    assert!(fs::read("/proc/keys").is_ok() && fs::read("/proc/cmdline").is_ok(), "there is something to hide here");
    let shown = returned(hostile(json!({"do": "reads_in_proc"}))).unwrap();
    let expected = json!(["cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version"]);
    assert_eq!(shown, either(json!([]), expected));
    let paths =
        ["/proc/keys", "/proc/key-users", "/proc/cmdline", "/proc/sys/kernel/random/boot_id", "/proc/self/stat"];
    let seen = returned(hostile(json!({"do": "sees", "paths": paths}))).unwrap();
    let hidden = seen.as_object().unwrap().iter().filter(|(path, _)| *path != "/proc/self/stat");
    assert!(hidden.into_iter().all(|(_, content)| content.as_str().unwrap().ends_with("Error")), "{seen}");
    assert_eq!(seen["/proc/self/stat"].as_str().unwrap().ends_with("Error"), alone(), "{seen}");
}

/// How often the owner of a file was kept from locking it while a call ran.
fn times_locked_out(file: &Path, call: impl FnOnce() -> Value + Send) -> (usize, Value) {
    use rustix::fs::{FlockOperation, fcntl_lock, flock};
    let ours = fs::File::options().read(true).write(true).open(file).unwrap();
    std::thread::scope(|scope| {
        let (call, mut locked_out) = (scope.spawn(call), 0);
        while !call.is_finished() {
            for lock in [flock, fcntl_lock] {
                match lock(&ours, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => lock(&ours, FlockOperation::Unlock).unwrap(),
                    Err(_) => locked_out += 1,
                }
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        (locked_out, call.join().unwrap())
    })
}

fn a_file_that_may_only_be_read_is_not_locked_against_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ledger");
    fs::write(&file, "x").unwrap();
    let params = json!({"do": "locks", "path": format!("{}/ledger", seen(folder.path()))});
    let held = mounted(call(params), folder.path(), "ro");
    let (locked_out, refused) = times_locked_out(&file, || returned(run("tiers/hostile", &held)).unwrap());
    assert_eq!((locked_out, &refused), (0, &json!({"lease": "PermissionError", "notify": "PermissionError"})));
    // Nothing holds it back in the operator's own Python, and then it does keep its owner out.
    let mut free = Call::new(json!({"do": "locks", "path": file}));
    (free.tier, free.trust_remote_code) = (Choice::Tier(Tier::InProcess), true);
    let (locked_out, _) = times_locked_out(&file, || returned(run("tiers/hostile", &free)).unwrap());
    assert!(locked_out > 0, "its twin locks nothing either");
    assert_eq!(returned(hostile(json!({"do": "keeps_a_database"}))).unwrap(), json!(3));
}

fn a_stream_that_was_given_away_is_not_waited_for() {
    let started = Instant::now();
    let report = hostile(json!({"do": "gives_its_output_away"}));
    assert!(started.elapsed() < Duration::from_secs(300), "{:?}", started.elapsed());
    assert_eq!(returned(report).unwrap(), json!([1]));
}

fn memory_that_is_shared_is_bounded_too() {
    assert_eq!(raised(hostile(json!({"do": "shares", "how": "file"}))).0, "PermissionError");
    let mut call = call(json!({"do": "shares", "how": "mapping"}));
    call.limits.memory_bytes = 64 << 20;
    let report = run("tiers/hostile", &call);
    // A control group ends it; without one it is told that there is no more.
    let ended = exceeded(&report) == Some(LimitKind::Memory);
    assert!(ended || raised(report).1.contains("Cannot allocate memory"));
}

fn no_file_is_left_that_runs_as_the_operator() {
    let folder = tempfile::tempdir().unwrap();
    let params = json!({"do": "set_id", "out": seen(folder.path())});
    let report = run("tiers/hostile", &with_folder(call(params), folder.path()));
    let said = returned(report).unwrap();
    assert!(said.as_object().unwrap().values().all(|errno| *errno == 1), "{said}");
    for entry in fs::read_dir(folder.path()).unwrap() {
        let mode = std::os::unix::fs::PermissionsExt::mode(&entry.unwrap().metadata().unwrap().permissions());
        assert_eq!(mode & 0o6000, 0, "{mode:o}");
    }
}

const CHANGES: [&str; 21] = [
    "open",
    "truncate",
    "create",
    "mkdir",
    "rename",
    "rename_back",
    "unlink",
    "rmdir",
    "link",
    "symlink",
    "mkfifo",
    "chmod",
    "fchmod",
    "chown",
    "fchown",
    "utime",
    "futime",
    "setxattr",
    "fsetxattr",
    "flags",
    "folder",
];

/// By its names or through a file that is open, its content, its place or what is written about it.
fn what_may_only_be_read_can_t_be_changed() {
    let changes = |mode: &str| {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        fs::write(&kept, "kept").unwrap();
        let state = || {
            let about = [folder.path(), &kept].map(|path| fs::metadata(path).unwrap());
            about.map(|it| (it.mode(), it.uid(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec()))
        };
        let before = state();
        let params = json!({"do": "changes", "folder": seen(folder.path())});
        let said = returned(run("tiers/hostile", &mounted(call(params), folder.path(), mode))).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{said}");
        (said, state() == before, fs::read_to_string(&kept).unwrap())
    };
    let (said, unchanged, content) = changes("ro");
    assert!(CHANGES.iter().all(|change| said[change].is_u64()) && unchanged, "{said}");
    assert_eq!(content, "kept");
    let (said, unchanged, content) = changes("rw");
    let works = ["open", "truncate", "create", "mkdir", "rename", "rename_back", "unlink", "rmdir"];
    assert!(works.iter().all(|change| said[change].is_null()) && !unchanged, "{said}");
    assert!(["link", "symlink", "mkfifo"].iter().all(|change| said[change] == 1), "{said}");
    assert_eq!(content, "k");
}

fn no_capability_is_left() {
    let left = returned(hostile(json!({"do": "capabilities"}))).unwrap();
    assert_eq!((&left["sets"], &left["no_new_privileges"]), (&json!([0, 0, 0, 0, 0, 0]), &json!(1)), "{left}");
    if rustix::process::geteuid().is_root() {
        assert_eq!(left["bounding"], json!([]));
    }
}

fn files_may_be_copied_with_their_modes_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let params = json!({"do": "copies", "out": seen(folder.path())});
    let copied = returned(run("tiers/hostile", &with_folder(call(params), folder.path()))).unwrap();
    assert_eq!(copied, json!(["copy", "touched", "tree"]));
    assert!(folder.path().join("tree/skill.py").is_file());
}

fn what_no_namespace_keeps_apart_is_refused_and_its_twin_works() {
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let before = rustix::process::getpriority_process(Pid::from_child(&other).into()).unwrap();
    let said = returned(hostile(json!({"do": "tries", "pid": other.id()}))).unwrap();
    assert_eq!(rustix::process::getpriority_process(Pid::from_child(&other).into()).unwrap(), before);
    other.kill().unwrap();
    other.wait().unwrap();
    for (name, errno) in said.as_object().unwrap() {
        let works = name.ends_with("_self") || ["fork", "pair"].contains(&name.as_str());
        let expected = if name == "unknown" { json!(38) } else { json!(1) };
        assert_eq!(*errno, if works { Value::Null } else { expected }, "{name}");
    }
    assert!(said.as_object().unwrap().len() > 25, "{said}");
}

fn what_is_taken_of_the_disk_in_any_way_counts() {
    let ways = [
        ("files", LimitKind::ScratchFiles),
        ("levels", LimitKind::ScratchFiles),
        ("held", LimitKind::ScratchBytes),
        ("mapped", LimitKind::ScratchBytes),
    ];
    for (what, limit) in ways {
        let mut call = call(json!({"do": "fill_with", "what": what}));
        call.limits.open_files = 512;
        call.limits.scratch_files = 1024;
        let report = run("tiers/hostile", &call);
        assert_eq!(exceeded(&report), Some(limit), "{what}: {report:?}");
    }
}

fn a_folder_is_mounted_where_it_is_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    fs::write(place.join("file"), "granted").unwrap();
    let call = |guest: &str| {
        let path = place.join("file");
        let mut call = call(json!({"do": "sees", "paths": [path]}));
        call.grants.add(GrantKind::Mount, &format!("{}:{guest}", place.display())).unwrap();
        call
    };
    let seen = returned(run("tiers/hostile", &call(place.to_str().unwrap()))).unwrap();
    assert_eq!(seen.as_object().unwrap().values().collect::<Vec<_>>(), [&json!("granted")]);
    let report = run("tiers/hostile", &call("/data"));
    assert!(matches!(report.outcome, Outcome::Refused), "{report:?}");
    assert_eq!(report.denials[0].flag, Some(format!("--mount {0}:{0}:ro", place.display())));
}

/// They are memory of the kernel's that no limit on bytes counts, and it takes its time to get rid of them.
fn a_flood_of_empty_files_is_ended_before_it_takes_much() {
    let report = hostile(json!({"do": "flood_files"}));
    assert_eq!(exceeded(&report), Some(LimitKind::ScratchFiles), "{report:?}");
    // As many as may be are no flood.
    let mut call = call(json!({"do": "prints"}));
    call.limits.scratch_files = 1;
    assert!(returned(run("tiers/hostile", &call)).is_ok());
}

fn a_service_with_its_socket_in_a_granted_folder_is_out_of_reach() {
    for mode in ["ro", "rw"] {
        let folder = tempfile::tempdir().unwrap();
        let service = std::os::unix::net::UnixListener::bind(folder.path().join("service")).unwrap();
        service.set_nonblocking(true).unwrap();
        let params = json!({"do": "connects", "folder": seen(folder.path())});
        let said = returned(run("tiers/hostile", &mounted(call(params), folder.path(), mode))).unwrap();
        assert!(said.as_object().unwrap().values().all(Value::is_u64), "{mode}: {said}");
        assert!(service.accept().is_err(), "{mode}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{mode}: nothing was made there");
    }
}

fn pairs_of_sockets_and_pipes_work() {
    assert_eq!(returned(hostile(json!({"do": "pairs"}))).unwrap(), json!(["pong\n", "ping\n", "piped"]));
}

fn a_mount_on_the_tiers_own_places_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for guest in ["/skillcell", "/packages/x", "/usr/lib", "/etc", "/lib64"] {
        let mut call = call(json!({"do": "prints"}));
        call.grants.add(GrantKind::Mount, &format!("{}:{guest}", folder.path().display())).unwrap();
        let report = run("tiers/hostile", &call);
        assert!(matches!(report.outcome, Outcome::Refused), "{guest}: {report:?}");
    }
}

fn nothing_is_left_of_a_call() {
    let actions = [
        r#"{"do": "prints"}"#,
        r#"{"do": "fill", "folder": "$TMPDIR"}"#,
        r#"{"do": "spill", "what": "x"}"#,
        r#"{"do": "flood_files"}"#,
    ];
    for action in actions {
        let folder = tempfile::tempdir().unwrap();
        let skill = tests().join("skills/tiers/hostile");
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.args(["run", skill.to_str().unwrap(), "--tier", "subprocess", "--json", "--timeout", "10", "--params"]);
        let child =
            command.arg(action).env("TMPDIR", folder.path()).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let name = format!("skillcell-{}-", child.id());
        let output = child.wait_with_output().unwrap();
        assert!(!output.stdout.is_empty());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "files");
        assert_eq!(processes_with(&folder.path().display().to_string()), Vec::<PathBuf>::new());
        for groups in ["/sys/fs/cgroup", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"] {
            let names = fs::read_dir(groups).into_iter().flatten().flatten().map(|entry| entry.file_name());
            assert!(!names.into_iter().any(|found| found.to_string_lossy().starts_with(&name)), "{groups}");
        }
    }
}

/// Processes whose command line has this in it, by their folder: that of a process of a call has where its files are.
fn processes_with(text: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let has = |path: &PathBuf| fs::read_to_string(path.join("cmdline")).is_ok_and(|line| line.contains(text));
    entries.filter(has).collect()
}

fn a_cancelled_call_ends_at_once_with_its_processes() {
    let skill = fixture("tiers/hostile");
    let folder = tempfile::tempdir().unwrap();
    let mut call = Call::new(json!({"do": "beat", "out": folder.path(), "then": "hang"}));
    call.tier = Choice::Tier(Tier::Subprocess);
    call.limits.deadline = Duration::from_secs(600);
    let mount = format!("{0}:{0}:rw", folder.path().display());
    call.grants.mounts = vec![skillcell_policy::MountGrant::parse(&mount).unwrap()];
    call.cancel = skillcell::CancelToken::new();
    let (beat, token) = (folder.path().join("beat"), call.cancel.clone());
    let report = std::thread::scope(|scope| {
        let running = scope.spawn(|| HOST.call(&skill, &call).unwrap());
        while !beat.exists() && !running.is_finished() {
            std::thread::sleep(Duration::from_millis(5));
        }
        token.cancel();
        running.join().unwrap()
    });
    assert!(matches!(report.outcome, Outcome::Cancelled), "{report:?}");
    let last = fs::read(&beat).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fs::read(&beat).unwrap(), last, "its daemon lives on");
}

/// By whatever signal: its processes, with what they started, and its folders.
fn a_process_ends_with_its_host() {
    // Has the environment made: below, the first processes are to be the skill's and not pip's.
    hostile(json!({"do": "nothing"}));
    for signal in [Signal::KILL, Signal::TERM, Signal::INT] {
        let folder = tempfile::tempdir().unwrap();
        let skill = tests().join("skills/tiers/hostile");
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.args(["run", skill.to_str().unwrap(), "--tier", "subprocess", "--params", r#"{"do": "hang"}"#]);
        let mut host = command.env("TMPDIR", folder.path()).spawn().unwrap();
        let name = folder.path().display().to_string();
        let wait_until = |done: &dyn Fn() -> bool| {
            let until = Instant::now() + Duration::from_secs(120);
            while !done() {
                assert!(Instant::now() < until, "{signal:?}: {:?}", processes_with(&name));
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        // Bubblewrap is two processes by itself; otherwise it is Python and its child.
        wait_until(&|| processes_with(&name).len() >= 2);
        let environment = fs::read(processes_with(&name)[0].join("environ")).unwrap_or_default();
        rustix::process::kill_process(Pid::from_child(&host), signal).unwrap();
        host.wait().unwrap();
        wait_until(&|| processes_with(&name).is_empty() && fs::read_dir(folder.path()).unwrap().count() == 0);
        let scratch = environment.split(|byte| *byte == 0).find_map(|line| line.strip_prefix(b"TMPDIR="));
        let scratch = PathBuf::from(String::from_utf8_lossy(scratch.unwrap_or_default()).into_owned());
        if let Some(around) = scratch.ancestors().nth(2).filter(|around| around.starts_with("/dev/shm/")) {
            wait_until(&|| !around.exists());
        }
    }
}

const LIBRARIES: [&str; 5] = ["urllib", "http.client", "requests", "httpx", "httpx.AsyncClient"];

fn web_call(library: &str, url: &str, grants: Grants) -> Report {
    let mut call = call(json!({"library": library, "do": "get", "url": url}));
    call.grants = grants;
    run("web/libraries", &call)
}

fn http_goes_through_the_same_rules_as_from_a_cell() {
    let handle = |seen: &server::Request| Some(answer("200 OK", &[], format!("{} {}", seen.method, seen.path())));
    let servers = [
        ("http", 80, Server::start(None, handle)),
        ("https", 443, Server::start(Some(AUTHORITY.server(&["api.example.test"])), handle)),
    ];
    for (scheme, port, server) in &servers {
        let mut grants = Grants::default();
        grants.add(GrantKind::AllowHttp, &format!("GET {scheme}://api.example.test/v1/*")).unwrap();
        grants.add(GrantKind::Resolve, &format!("api.example.test:{port}:127.0.0.1:{}", server.port)).unwrap();
        for library in LIBRARIES {
            let url = format!("{scheme}://api.example.test/v1/x");
            let result = returned(web_call(library, &url, grants.clone())).unwrap_or_else(|e| panic!("{library} {e}"));
            assert_eq!((&result["status"], &result["text"]), (&json!(200), &json!("GET v1/x")), "{library} {scheme}");
        }
        let before = server.seen().len();
        for library in LIBRARIES {
            let url = format!("{scheme}://api.example.test/v2/x");
            let report = web_call(library, &url, grants.clone());
            assert_eq!(report.denials.len(), 1, "{library} {scheme}: {report:?}");
            assert_eq!(report.denials[0].kind, DenialKind::Http);
            let text = returned(report).unwrap().to_string();
            // anyio drops the reason.
            let told = text.contains("no rule allows") || library == "httpx.AsyncClient";
            assert!(told && !text.contains("\"status\""), "{library} {scheme}: {text}");
        }
        assert_eq!(server.seen().len(), before, "a refused request was made");
    }
    let report = web_call("requests", "https://elsewhere.example.test/", Grants::default());
    assert_eq!(
        report.denials[0].flag.as_deref(),
        Some("--allow-http 'https://elsewhere.example.test/*'"),
        "{report:?}"
    );
}

fn a_manifest_or_a_missing_package_chooses_only_what_policy_allows() {
    let asks = fixture("tiers/asks_subprocess");
    let auto = HOST.call(&asks, &Call::new(json!({}))).unwrap();
    assert!(matches!(auto.outcome, Outcome::Refused), "{auto:?}");
    assert_eq!(auto.denials[0].kind, DenialKind::Tier);
    let mut in_cell = Call::new(json!({}));
    in_cell.tier = Choice::Tier(Tier::Wasm);
    assert_eq!(returned(HOST.call(&asks, &in_cell).unwrap()).unwrap(), json!({"platform": "wasi"}));
    let needs = fixture("tiers/needs_native");
    let refused = HOST.call(&needs, &Call::new(json!({}))).unwrap();
    assert!(matches!(refused.outcome, Outcome::Refused), "{refused:?}");
    assert!(refused.denials[0].message.contains("`ujson`"), "{refused:?}");
    assert_eq!(
        auto.denials[0].hint.as_deref().map(|hint| hint.contains("`--tier subprocess`")),
        Some(true),
        "{auto:?}"
    );
    let mut isolated = Call::new(json!({}));
    isolated.tier = Choice::Isolated;
    let report = HOST.call(&needs, &isolated).unwrap();
    assert!(report.tier > Tier::Wasm && report.tier < Tier::InProcess, "{report:?}");
    assert!(report.tier_reason.is_some(), "{report:?}");
    assert!(returned(report).is_ok());
    let mut listed = Call::new(json!({}));
    listed.tier = Choice::Tier(Tier::Subprocess);
    listed.tiers = TierRules::default();
    listed.tiers.unknown = Some(vec![Tier::Wasm]);
    let report = HOST.call(&needs, &listed).unwrap();
    assert!(
        matches!(report.outcome, Outcome::Refused) && report.denials[0].message.contains("`unknown`"),
        "{report:?}"
    );
}

fn the_audit_says_where_a_call_ran() {
    let asks = with_manifest("execution: auto");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    let mount = folder.path().join("in").display().to_string();
    let audited = |tier: Tier, grants: Grants, trust: bool| {
        let file = folder.path().join(format!("{tier}-{trust}.jsonl"));
        let mut call = Call::new(json!({}));
        (call.tier, call.grants, call.trust_remote_code) = (Choice::Tier(tier), grants, trust);
        call.audit = AuditLog::new().to_file(&file).unwrap();
        HOST.call(&asks.skill, &call).unwrap();
        let text = fs::read_to_string(file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    for tier in [Tier::Wasm, Tier::Subprocess] {
        let mut grants = Grants::default();
        grants.add(GrantKind::Mount, &format!("{mount}:{mount}")).unwrap();
        let lines = audited(tier, grants, false);
        assert!(lines.iter().any(|line| line["event"] == "grant"), "{lines:#?}");
        assert!(lines[1..].iter().all(|line| line["tier"] == tier.name()), "{lines:#?}");
    }
    let bare = audited(Tier::InProcess, Grants::default(), true);
    assert_eq!((&bare[0]["event"], bare[0].get("tier")), (&json!("begin"), None), "it is not decided yet");
    assert_eq!(bare[1]["tier"], "in_process");
    let refused = audited(Tier::InProcess, Grants::default(), false);
    assert_eq!(refused.last().unwrap()["outcome"], "refused");
    assert!(refused.iter().all(|line| line.get("tier").is_none()), "it ran nowhere: {refused:#?}");
}

fn a_list_binds_cells_as_any_other_tier() {
    let asks = with_manifest("execution: auto");
    let run = |list: &[Tier], choice: Choice| {
        let mut call = Call::new(json!({}));
        (call.tier, call.tiers.unknown) = (choice, Some(list.to_vec()));
        let report = HOST.call(&asks.skill, &call).unwrap();
        match report.outcome {
            Outcome::Returned(_) => Some(report.tier),
            Outcome::Refused => {
                assert!(report.denials[0].message.contains("`wasm` in `unknown`"), "{report:?}");
                None
            }
            other => panic!("{other:?}"),
        }
    };
    let cell = Choice::Tier(Tier::Wasm);
    for choice in [Choice::Auto, Choice::Isolated, cell] {
        assert_eq!(run(&[], choice), None, "{choice:?}");
        assert_eq!(run(&[Tier::InProcess], choice), None, "{choice:?}");
        assert_eq!(run(&[Tier::Wasm, Tier::Subprocess], choice), Some(Tier::Wasm), "{choice:?}");
    }
    assert_eq!(run(&[Tier::Subprocess], cell), None);
    for choice in [Choice::Auto, Choice::Isolated] {
        assert_eq!(run(&[Tier::Subprocess], choice), Some(Tier::Subprocess), "the strongest of the list");
    }
    let mut for_others = Call::new(json!({}));
    for_others.tiers.bundled = Some(Vec::new());
    assert_eq!(HOST.call(&asks.skill, &for_others).unwrap().tier, Tier::Wasm, "a list is for those it is for");
}

fn isolated_is_the_strongest_whatever_a_manifest_asks() {
    for wish in ["container", "subprocess", "in_process", "wasm", "auto"] {
        let asks = with_manifest(&format!("execution: {wish}"));
        let mut call = Call::new(json!({}));
        call.tier = Choice::Isolated;
        let report = HOST.call(&asks.skill, &call).unwrap();
        assert_eq!(report.tier, Tier::Wasm, "{wish}");
        assert_eq!(returned(report).unwrap(), json!({"platform": "wasi"}), "{wish}");
    }
}

fn a_machine_without_an_engine_says_what_to_install() {
    let run = |skill: &Path, flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
        command.arg("run").arg(skill).args(["--quiet", "--params", r#"{"text": "a"}"#]).args(flags);
        let output = command.env("PATH", "/nowhere").env_remove("DOCKER_HOST").output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let asks = with_manifest("execution: container");
    let brings_an_image = tests().join("../skills-compat/demo/in_container");
    // By flag as by manifest: the image is the skill, and runs nowhere else.
    for (skill, flags) in [
        (asks.folder.path(), &["--tier", "container"][..]),
        (&brings_an_image, &["--tier", "container"]),
        (&brings_an_image, &["--isolated"]),
    ] {
        let (code, said) = run(skill, flags);
        assert_eq!(code, Some(3), "{flags:?}: {said}");
        assert!(said.contains("no container engine works here") && said.contains("Podman"), "{flags:?}: {said}");
    }
    let (code, said) = run(asks.folder.path(), &["--isolated"]);
    assert_eq!(code, Some(0), "there is a cell: {said}");
}

fn what_a_skill_raises_is_never_the_hosts_word() {
    let forges = fixture("tiers/forges");
    for choice in [Choice::Auto, Choice::Isolated] {
        let mut call = Call::new(json!({}));
        call.tier = choice;
        let report = HOST.call(&forges, &call).unwrap();
        assert!(report.denials.is_empty() && report.tier == Tier::Wasm, "{report:?}");
        let Outcome::Raised(raised) = report.outcome else { panic!("{:?}", report.outcome) };
        assert!(raised.message.contains("verified"), "the skill's own word stays where that is: {}", raised.message);
    }
}

fn nonsense_for_a_tier_is_refused_with_what_decides_instead() {
    for nonsense in ["root", "3", "[wasm]"] {
        let asks = with_manifest(&format!("execution: {nonsense}"));
        let report = HOST.call(&asks.skill, &Call::new(json!({}))).unwrap();
        assert!(matches!(report.outcome, Outcome::Refused), "{nonsense}: {report:?}");
        let denial = &report.denials[0];
        let hint = denial.hint.as_deref().unwrap();
        assert!(denial.asked == "execution" && denial.message.contains("can't be read: "), "{report:?}");
        assert!(hint.contains("`--tier NAME`") && hint.contains("wasm, container, subprocess"), "{report:?}");
        let mut call = Call::new(json!({}));
        call.tier = Choice::Tier(Tier::Wasm);
        assert!(returned(HOST.call(&asks.skill, &call).unwrap()).is_ok(), "{nonsense}");
    }
}

/// Its import would fail there, for a reason that is no missing package, and the tier is decided before.
fn a_skill_that_asks_for_another_tier_is_never_imported_in_a_cell() {
    let asks = with_manifest("execution: subprocess");
    let path = asks.folder.path().join("skill.py");
    let guarded = format!("import sys\nassert sys.platform != 'wasi'\n{}", fs::read_to_string(&path).unwrap());
    fs::write(&path, guarded).unwrap();
    let skill = HOST.skill(asks.folder.path().to_str().unwrap()).unwrap();
    let mut call = Call::new(json!({}));
    call.tiers.unknown = Some(vec![Tier::Wasm, Tier::Subprocess]);
    let report = HOST.call(&skill, &call).unwrap();
    assert_eq!(report.tier, Tier::Subprocess, "{report:?}");
    assert!(report.tier_reason.as_deref().is_some_and(|why| why.contains("its manifest asks")), "{report:?}");
    assert!(returned(report).is_ok());
    // In a cell it can't be imported at all.
    call.tier = Choice::Tier(Tier::Wasm);
    let report = HOST.call(&skill, &call).unwrap();
    assert!(matches!(&report.outcome, Outcome::Raised(raised) if raised.kind == "AssertionError"), "{report:?}");
}

/// A skill that tells where it runs, with this line in its manifest.
struct Asks {
    folder: tempfile::TempDir,
    skill: skillcell::Skill,
}

fn with_manifest(line: &str) -> Asks {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(tests().join("skills/tiers/asks_subprocess/skill.py"), folder.path().join("skill.py")).unwrap();
    fs::write(folder.path().join("manifest.yaml"), format!("name: tiers/asks\nversion: 0.1.0\n{line}\n")).unwrap();
    let skill = HOST.skill(folder.path().to_str().unwrap()).unwrap();
    Asks { folder, skill }
}

fn without_isolation_only_what_is_trusted_runs() {
    let asks = fixture("tiers/asks_in_process");
    let run = |host: &Host, choice: Choice, trust: bool| {
        let mut call = Call::new(json!({}));
        (call.tier, call.trust_remote_code) = (choice, trust);
        let report = host.call(&asks, &call).unwrap();
        let returned = matches!(report.outcome, Outcome::Returned(_));
        assert!(returned || matches!(report.outcome, Outcome::Refused), "{choice:?} {trust}: {report:?}");
        returned.then_some(report.tier)
    };
    let named = Choice::Tier(Tier::InProcess);
    assert_eq!(run(&HOST, Choice::Auto, true), None);
    assert_eq!(run(&HOST, Choice::Isolated, true), Some(Tier::Wasm), "the operator's word, not the manifest's");
    assert_eq!(run(&HOST, named, false), None);
    assert_eq!(run(&HOST, named, true), Some(Tier::InProcess));
    let folder = tempfile::tempdir().unwrap();
    let approvals = || Approvals::locate(Some(folder.path())).unwrap();
    let host = || host_builder().approvals(approvals()).build().unwrap();
    approvals().approve(&asks, &Permissions::default(), &[]).unwrap();
    assert_eq!(run(&host(), named, false), None, "approved, and not for this tier");
    approvals().approve(&asks, &Permissions::default(), &[Tier::InProcess]).unwrap();
    assert_eq!(run(&host(), named, false), Some(Tier::InProcess));
    assert_eq!(
        run(&host(), Choice::Auto, false),
        Some(Tier::InProcess),
        "its manifest asks, and it is approved for it"
    );
    assert_eq!(run(&host(), Choice::Isolated, false), Some(Tier::Wasm));
    let bundled = HOST.skill("optimization/prompt_rewriter").unwrap();
    let mut call = Call::new(json!({"raw_text": "Could you please kindly make this shorter"}));
    call.tier = Choice::Tier(Tier::InProcess);
    let report = HOST.call(&bundled, &call).unwrap();
    assert_eq!(report.tier, Tier::InProcess);
    assert_eq!(returned(report).unwrap()["compressed_text"], "make this shorter");
}

/// Set in the process that the next test starts: the one folder of its `PATH`, and the programs that come later.
const LATE: &str = "SKILLCELL_TEST_LATE";

/// This program again, with a `PATH` that has everything but bubblewrap and engines; they come when its host has found that
/// they are missing.
fn a_sandbox_or_engine_that_is_installed_later_is_found() {
    if let Some(folder) = std::env::var_os(LATE) {
        return is_found_once_it_is_there(Path::new(&folder));
    }
    let path = std::env::var_os("PATH").unwrap();
    let folder = tempfile::tempdir().unwrap();
    for entry in std::env::split_paths(&path).flat_map(fs::read_dir).flatten().flatten() {
        // The first of a name is the one that counts.
        let late = ["bwrap", "podman", "docker"].iter().any(|name| entry.file_name() == *name);
        let name = if late { format!("late-{}", entry.file_name().display()).into() } else { entry.file_name() };
        let _ = std::os::unix::fs::symlink(entry.path(), folder.path().join(name));
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "subprocess::a_sandbox_or_engine_that_is_installed_later_is_found"]);
    again.env(LATE, folder.path()).env("PATH", folder.path()).env("SKILLCELL_SANDBOX", "bubblewrap");
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let errors = String::from_utf8_lossy(&output.stderr);
    errors.lines().filter(|line| line.contains("this machine has no ")).for_each(|line| eprintln!("{line}"));
}

fn is_found_once_it_is_there(folder: &Path) {
    let asks = fixture("tiers/hostile");
    let decide = |tier| {
        let mut call = Call::new(json!({}));
        call.tier = Choice::Tier(tier);
        HOST.plan(&asks, &call).unwrap()
    };
    // Docker's program alone is no engine: without its daemon it would never be found.
    for (tier, program) in [(Tier::Subprocess, "bwrap"), (Tier::Container, "podman")] {
        let Decision::Refused(refused) = decide(tier) else { panic!("{tier} is there before its program is") };
        assert!(refused.denials[0].message.contains("is not available on this machine"), "{:?}", refused.denials);
        if fs::rename(folder.join(format!("late-{program}")), folder.join(program)).is_err() {
            eprintln!("SKIPPED {tier}: this machine has no {program}");
            continue;
        }
        let end = Instant::now() + Duration::from_secs(60);
        while let Decision::Refused(refused) = decide(tier) {
            assert!(Instant::now() < end, "{tier}: {:?}", refused.denials);
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Fills a form and reads it back, as it does natively: see docs/security/subprocess-isolation-spike.md.
fn a_pdf_is_filled_through_a_mount_by_a_package_that_no_cell_has() {
    // With bubblewrap the operator names no tier; without, a container would be taken before.
    let choice = if alone() { Choice::Tier(Tier::Subprocess) } else { Choice::Auto };
    let first = host_builder().runtime(RuntimeKind::WasiPython).build().expect("the cache folder can be used");
    form::is_filled_as_natively(&first, choice, seen);
}
