//! Where the skills are run: what a case file means in a tier, and what came out of a call, the same for all of them.

use std::fs::File;
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use skillcell::{Call, Choice, Host, Outcome, Raised, Report, RuntimeKind, Tier};
use skillcell_policy::{GrantKind, Grants, MountGrant};
use skillcell_tiers::container::Engine;

use crate::authority;
use crate::case::{Given, GivenLimits};
use crate::expect::brief;
use crate::names::Names;
use crate::stage::{Stage, Words};

/// Where the suite runs: `ESCAPE_TIER`, or cells.
pub static TIER: LazyLock<Tier> = LazyLock::new(|| {
    let named = std::env::var("ESCAPE_TIER").ok().filter(|name| !name.is_empty());
    named.map_or(Tier::Wasm, |name| name.parse().expect("ESCAPE_TIER is a tier"))
});

/// Whether the pairs run on the second runtime, which `SKILLCELL_RUNTIME` names.
pub fn is_second_runtime() -> bool {
    *TIER == Tier::Wasm && crate::common::runtime_choice() == Some(RuntimeKind::Pyodide)
}

/// Whether this is what case files speak of: cells of the first runtime. Anywhere else, differences are held against a record.
pub fn is_as_written() -> bool {
    *TIER == Tier::Wasm && !is_second_runtime()
}

/// Where the suite runs, in records and in `gives_on`.
pub fn place() -> &'static str {
    if is_second_runtime() { RuntimeKind::Pyodide.as_str() } else { TIER.name() }
}

/// Whether the tier has this machine's paths, and no others: a folder is then mounted where it is.
pub fn has_no_paths_of_its_own() -> bool {
    *TIER == Tier::Subprocess && std::env::var("SKILLCELL_SANDBOX").is_ok_and(|choice| choice == "landlock")
}

/// Mounts as they can be made here. One that lies in another can't.
fn mounts(texts: &[String], words: &Words) -> Vec<String> {
    let texts: Vec<String> = texts.iter().map(|text| words.fill(text)).collect();
    let parsed: Vec<_> = texts.iter().filter_map(|text| MountGrant::parse(text).ok()).collect();
    let inside = |one: &MountGrant| {
        parsed.iter().any(|other| one.guest.as_str().starts_with(&format!("{}/", other.guest.as_str())))
    };
    if !has_no_paths_of_its_own() || parsed.len() < texts.len() || parsed.iter().any(inside) {
        return texts;
    }
    parsed.iter().map(|MountGrant { host, mode, .. }| format!("{host}:{host}:{}", mode.name())).collect()
}

/// Params in which a path that any of these mounts would lead to, granted or not, is that of the host.
pub fn at_home<'a>(params: Value, mounts: impl Iterator<Item = &'a String> + Clone, words: &Words) -> Value {
    if !has_no_paths_of_its_own() {
        return params;
    }
    match params {
        Value::String(text) => {
            let led = mounts.filter_map(|mount| MountGrant::parse(&words.fill(mount)).ok());
            let below = |mount: &MountGrant| {
                let rest = text.strip_prefix(mount.guest.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("{}{rest}", mount.host))
            };
            let longest = led.filter(|mount| below(mount).is_some()).max_by_key(|mount| mount.guest.as_str().len());
            Value::String(longest.and_then(|mount| below(&mount)).unwrap_or(text))
        }
        Value::Array(items) => items.into_iter().map(|item| at_home(item, mounts.clone(), words)).collect(),
        Value::Object(items) => {
            items.into_iter().map(|(key, item)| (key, at_home(item, mounts.clone(), words))).collect()
        }
        other => other,
    }
}

/// The numbers of errors here, which Python's messages have in them.
pub fn words() -> Vec<(&'static str, String)> {
    if *TIER != Tier::Wasm {
        return linux_words();
    }
    let numbers = [
        ("E2BIG", 1),
        ("EACCES", 2),
        ("EBADF", 8),
        ("EBUSY", 10),
        ("ECONNABORTED", 103),
        ("ECONNREFUSED", 111),
        ("ECONNRESET", 104),
        ("EEXIST", 20),
        ("EILSEQ", 25),
        ("EINVAL", 28),
        ("EIO", 29),
        ("EISDIR", 31),
        ("ELOOP", 32),
        ("EMFILE", 33),
        ("ENAMETOOLONG", 37),
        ("ENOENT", 44),
        ("ENOSPC", 51),
        ("ENOSYS", 52),
        ("ENOTCONN", 107),
        ("ENOTDIR", 54),
        ("ENOTEMPTY", 55),
        // Emscripten's C library has one number of its own.
        ("ENOTSUP", if is_second_runtime() { 138 } else { 58 }),
        ("ENOTTY", 59),
        ("EPERM", 63),
        ("EROFS", 69),
        ("ESPIPE", 70),
        ("EXDEV", 75),
        ("ENOTCAPABLE", 76),
        ("EAFNOSUPPORT", 5),
    ]; // the order of WASI, nearly
    numbers.into_iter().map(|(name, number)| (name, number.to_string())).collect()
}

/// The numbers of Linux.
fn linux_words() -> Vec<(&'static str, String)> {
    use rustix::io::Errno;
    let numbers = [
        ("E2BIG", Errno::TOOBIG),
        ("EACCES", Errno::ACCESS),
        ("EBADF", Errno::BADF),
        ("EBUSY", Errno::BUSY),
        ("ECONNABORTED", Errno::CONNABORTED),
        ("ECONNREFUSED", Errno::CONNREFUSED),
        ("ECONNRESET", Errno::CONNRESET),
        ("EEXIST", Errno::EXIST),
        ("EILSEQ", Errno::ILSEQ),
        ("EINVAL", Errno::INVAL),
        ("EIO", Errno::IO),
        ("EISDIR", Errno::ISDIR),
        ("ELOOP", Errno::LOOP),
        ("EMFILE", Errno::MFILE),
        ("ENAMETOOLONG", Errno::NAMETOOLONG),
        ("ENOENT", Errno::NOENT),
        ("ENOSPC", Errno::NOSPC),
        ("ENOSYS", Errno::NOSYS),
        ("ENOTCONN", Errno::NOTCONN),
        ("ENOTDIR", Errno::NOTDIR),
        ("ENOTEMPTY", Errno::NOTEMPTY),
        ("ENOTSUP", Errno::NOTSUP),
        ("ENOTTY", Errno::NOTTY),
        ("EPERM", Errno::PERM),
        ("EROFS", Errno::ROFS),
        ("ESPIPE", Errno::SPIPE),
        ("EXDEV", Errno::XDEV),
        ("ENOTCAPABLE", Errno::PERM),
        ("EAFNOSUPPORT", Errno::AFNOSUPPORT),
    ];
    numbers.into_iter().map(|(name, errno)| (name, errno.raw_os_error().to_string())).collect()
}

/// The base image of containers.
const BASE: &str = crate::common::debian::IMAGE;

pub static HOST: LazyLock<Host> = LazyLock::new(|| {
    let host = crate::common::host_builder().ca_files([authority::FILE.path().to_owned()]);
    if *TIER == Tier::Container {
        let engine = Engine::of_machine().expect("a container engine");
        crate::common::debian::base(engine.kind.program()).expect("a base image");
    }
    let host = host.container_base(BASE);
    host.lookup(Arc::new(Names::default())).build().expect("the cache folder can be used")
});

/// What came out of a call.
#[derive(Default)]
pub struct Seen {
    pub outcome: String,
    /// JSON text; empty if there is none.
    pub result: String,
    pub raised: Option<String>,
    pub message: String,
    pub traceback: String,
    pub limit: Option<String>,
    pub denials: Vec<String>,
    pub stdout: String,
    pub stderr: String,
    /// Of a program that made no call.
    pub exit: Option<i32>,
    /// What the program itself says on stderr.
    pub says: String,
    /// All that left the host, for finding the marker in it.
    pub everything: String,
}

impl Seen {
    pub fn brief(&self) -> String {
        let Seen { outcome, result, raised, message, limit, says, .. } = self;
        let (result, message, says) = (brief(result), brief(message), brief(says));
        format!("{outcome} {result} {raised:?} {message} {limit:?} {says}")
    }
}

/// Makes the call of a half.
pub fn call(skill: &str, params: &Value, given: &Given, stage: &Stage) -> Seen {
    let held: Vec<File> = given.host_files.iter().map(|path| open_to_inherit(stage, path)).collect();
    let call = if given.by_cli { by_program } else { by_library };
    let seen = call(skill, params, given, &stage.words);
    drop(held);
    seen
}

/// A file that this process has open, and every process that it starts.
fn open_to_inherit(stage: &Stage, path: &str) -> File {
    let file = File::open(stage.path(path)).expect("a file of the stage");
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).expect("it can be inherited");
    file
}

fn by_library(skill: &str, params: &Value, given: &Given, words: &Words) -> Seen {
    assert!(given.args.is_empty() && given.host_env.is_empty(), "these need by_cli = true");
    let mut call = Call::new(params.clone());
    call.grants = grants(given, words);
    call.env = given.env.iter().map(|(name, value)| (name.clone(), words.fill(value))).collect();
    call.config = given.config.as_ref().map(|config| words.json(&toml::Value::Table(config.clone())));
    call.use_image = !given.no_image;
    // What is tried has to be let in.
    call.allow_any_import = true;
    call.tier = Choice::Tier(*TIER);
    limit(&mut call, &given.limits);
    match HOST.skill(skill).and_then(|skill| HOST.call(&skill, &call)) {
        Ok(report) => of_report(&report),
        Err(error) => Seen { outcome: "host error".into(), says: error.to_string(), ..Seen::default() },
    }
}

fn grants(given: &Given, words: &Words) -> Grants {
    let mut grants = Grants::default();
    for (kind, texts) in kinds(given, words) {
        for text in texts {
            grants.add(kind, &text).unwrap_or_else(|bad| panic!("{text}: {bad}"));
        }
    }
    grants
}

fn kinds(given: &Given, words: &Words) -> [(GrantKind, Vec<String>); 5] {
    let filled = |texts: &[String]| texts.iter().map(|text| words.fill(text)).collect();
    [
        (GrantKind::Mount, mounts(&given.mount, words)),
        (GrantKind::AllowHttp, filled(&given.allow_http)),
        (GrantKind::DenyHttp, filled(&given.deny_http)),
        (GrantKind::Resolve, filled(&given.resolve)),
        (GrantKind::Secret, filled(&given.secret)),
    ]
}

fn limit(call: &mut Call, given: &GivenLimits) {
    let limits = &mut call.limits;
    let each = |limit: &mut u64, given: Option<u64>| *limit = given.unwrap_or(*limit);
    limits.deadline = given.deadline_ms.map_or(limits.deadline, Duration::from_millis);
    each(&mut limits.memory_bytes, given.memory_bytes);
    each(&mut limits.stdout_bytes, given.stdout_bytes);
    each(&mut limits.stderr_bytes, given.stderr_bytes);
    each(&mut limits.result_bytes, given.result_bytes);
    each(&mut limits.scratch_bytes, given.scratch_bytes);
    each(&mut limits.host_calls, given.host_calls);
    limits.open_files = given.open_files.unwrap_or(limits.open_files);
    limits.scratch_files = given.scratch_files.unwrap_or(limits.scratch_files);
}

fn of_report(report: &Report) -> Seen {
    let mut seen = Seen {
        outcome: report.outcome.name().to_owned(),
        denials: report.denials.iter().map(|d| denial(&d.flag, &name(&d.kind), &d.asked)).collect(),
        stdout: String::from_utf8_lossy(&report.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&report.stderr).into_owned(),
        everything: serde_json::to_string(&report.envelope()).expect("the envelope is JSON"),
        ..Seen::default()
    };
    let raised = match &report.outcome {
        Outcome::Returned(json) => {
            seen.result = json.get().to_owned();
            None
        }
        Outcome::Raised(raised) => Some(raised),
        Outcome::Exceeded(limit, raised) => {
            seen.limit = Some(name(limit));
            raised.as_ref()
        }
        _ => None,
    };
    if let Some(raised) = raised {
        seen.raise(raised);
    }
    seen
}

/// As it is called in the envelope.
fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

impl Seen {
    fn raise(&mut self, raised: &Raised) {
        self.raised = Some(raised.kind.clone());
        self.message = raised.message.clone();
        self.traceback = raised.traceback.clone();
    }
}

fn denial(flag: &Option<String>, kind: &str, asked: &str) -> String {
    flag.clone().unwrap_or_else(|| format!("{kind}: {asked}"))
}

#[derive(Deserialize)]
struct Envelope {
    outcome: String,
    result: Option<Box<RawValue>>,
    error: Option<Raised>,
    limit: Option<String>,
    denials: Vec<EnvelopeDenial>,
    stdout: String,
    stderr: String,
}

#[derive(Deserialize)]
struct EnvelopeDenial {
    kind: String,
    asked: String,
    flag: Option<String>,
}

/// `skillcell run --json` with the same grants as flags. Its own environment is only what the case file says, and where it
/// finds its cache.
fn by_program(skill: &str, params: &Value, given: &Given, words: &Words) -> Seen {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillcell"));
    command.env_clear().env("SKILLCELL_CACHE_DIR", words.get("cache"));
    command.envs(crate::common::runtime_choice().map(|kind| ("SKILLCELL_RUNTIME", kind.as_str())));
    command.envs(given.host_env.iter().map(|(name, value)| (name, words.fill(value))));
    command.args(["run", skill, "--json", "--quiet", "--tier", TIER.name(), "--params", &params.to_string()]);
    if given.args.iter().any(|arg| arg == "--from-wheel") {
        // pip is the operator's own.
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PIP_")));
    }
    if *TIER != Tier::Wasm {
        // It starts programs of this machine.
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("SKILLCELL_CONTAINER_BASE", BASE);
        if !rustix::process::geteuid().is_root() {
            // Wherever the pair says that home is, a user's engine finds its images.
            let home = std::env::var("HOME").unwrap_or_default();
            command.env("XDG_DATA_HOME", format!("{home}/.local/share"));
            command.env("XDG_CONFIG_HOME", format!("{home}/.config"));
        }
        command.envs(std::env::var_os("SKILLCELL_SANDBOX").map(|choice| ("SKILLCELL_SANDBOX", choice)));
    }
    for (kind, texts) in kinds(given, words) {
        for text in texts {
            command.args([kind.flag(), text]);
        }
    }
    for (name, value) in &given.env {
        command.args(["--env".into(), format!("{name}={}", words.fill(value))]);
    }
    if let Some(ms) = given.limits.deadline_ms {
        command.args(["--timeout".into(), format!("{ms}ms")]);
    }
    command.args(given.args.iter().map(|arg| words.fill(arg)));
    let done = command.output().expect("the program runs");
    let says = String::from_utf8_lossy(&done.stderr).into_owned();
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    let everything = format!("{out}{says}");
    match serde_json::from_str::<Envelope>(&out) {
        Ok(envelope) => of_envelope(envelope, says, everything),
        Err(_) => Seen { outcome: "none".into(), exit: done.status.code(), says, everything, ..Seen::default() },
    }
}

fn of_envelope(envelope: Envelope, says: String, everything: String) -> Seen {
    let mut seen = Seen {
        outcome: envelope.outcome,
        result: envelope
            .result
            .filter(|json| json.get() != "null")
            .map(|json| json.get().to_owned())
            .unwrap_or_default(),
        limit: envelope.limit,
        denials: envelope.denials.iter().map(|d| denial(&d.flag, &d.kind, &d.asked)).collect(),
        stdout: envelope.stdout,
        stderr: envelope.stderr,
        says,
        everything,
        ..Seen::default()
    };
    if let Some(raised) = &envelope.error {
        seen.raise(raised);
    }
    seen
}
