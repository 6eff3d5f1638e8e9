//! `skillcell doctor`: what this machine can do, and what is missing.

use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::json;

use super::SettingArgs;
use super::printer::{Printer, format_bytes};
use skillcell_cache::Cache;
use skillcell_cache::progress::Silent;
use skillcell_cell::RuntimeKind;
use skillcell_cell::runtime::Runtime;
use skillcell_packages::provision::{self, Fetch};
use skillcell_packages::venv::BasePython;
use skillcell_policy::Tier;
use skillcell_tiers::{self as tier, SandboxChoice, TierError};

/// Check what this machine can do: processor, memory, disk, runtime, Python, and which tiers it has
///
/// A tier is where a skill runs: wasm (a cell), container, subprocess or in_process. What is missing for one is said in
/// its line, with what to install. A container engine counts only if it could start a container.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell doctor
  skillcell doctor --json | jq -r '.checks[] | select(.state != \"ok\").detail'

Exit codes: 0 nothing failed, 2 something that skillcell can't do without did.")]
pub struct DoctorCommand {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

struct Check {
    what: &'static str,
    state: State,
    detail: String,
}

#[derive(PartialEq, Clone, Copy)]
enum State {
    Ok,
    Warning,
    Failed,
}

/// A first start unpacks and compiles the runtime.
const DISK_NEEDED: u64 = 1 << 30;

impl DoctorCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let settings = args.load_settings()?;
        let python = settings.python.as_deref();
        let mut checks = vec![check_processor(), check_memory()];
        match Cache::locate(settings.cache_dir.as_deref()) {
            Ok(cache) => checks.extend([
                Check::ok("cache folder", cache.root().display().to_string()),
                check_disk(&cache),
                check_runtime(&cache),
            ]),
            Err(error) => checks.push(Check::failed("cache folder", error.to_string())),
        }
        checks.push(check_python(python));
        checks.extend(Tier::ALL.map(|one| check_tier(one, python, settings.sandbox)));
        let failed = checks.iter().any(|check| check.state == State::Failed);
        if self.json {
            let rows: Vec<_> = checks
                .iter()
                .map(|check| json!({"check": check.what, "state": check.state.name(), "detail": check.detail}))
                .collect();
            printer.print_json(&json!({"schema": 1, "checks": rows, "ok": !failed}));
        } else {
            let cells =
                |check: &Check| vec![check.state.name().to_owned(), check.what.to_owned(), check.detail.clone()];
            let rows: Vec<Vec<String>> = checks.iter().map(cells).collect();
            printer.print_styled_table(&["state", "check", "detail"], &rows, |row, column| match column {
                0 => checks[row].state.style(),
                _ => Style::new(),
            });
        }
        Ok(ExitCode::from(if failed { 2 } else { 0 }))
    }
}

fn check_processor() -> Check {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let detail = format!("{} {}, {cores} cores", std::env::consts::OS, std::env::consts::ARCH);
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Check::ok("processor", detail),
        _ => Check::warning("processor", format!("{detail}; tested on Linux on x86_64 only")),
    }
}

fn check_memory() -> Check {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
    };
    match field("MemAvailable:") {
        Some(free) if free < 2 << 30 => Check::warning(
            "memory",
            format!("{} available; compiling the runtime takes about 2 GiB", format_bytes(free)),
        ),
        Some(free) => Check::ok("memory", format!("{} available", format_bytes(free))),
        None => Check::warning("memory", "unknown".to_owned()),
    }
}

fn check_disk(cache: &Cache) -> Check {
    match rustix::fs::statvfs(cache.root()) {
        Ok(stat) if stat.f_bavail * stat.f_frsize < DISK_NEEDED => Check::warning(
            "disk",
            format!(
                "{} free; a first start takes about {}",
                format_bytes(stat.f_bavail * stat.f_frsize),
                format_bytes(DISK_NEEDED)
            ),
        ),
        Ok(stat) => Check::ok("disk", format!("{} free", format_bytes(stat.f_bavail * stat.f_frsize))),
        Err(error) => Check::warning("disk", error.to_string()),
    }
}

fn check_runtime(cache: &Cache) -> Check {
    let pin = &skillcell_cell::runtime::pinned_runtime().wheel;
    let runtime = Runtime {
        kind: RuntimeKind::default(),
        sides: Default::default(),
        cache,
        fetch: &Fetch::default(),
        progress: &Silent,
    };
    let compiled = runtime.is_compiled().unwrap_or(false);
    let detail = format!("{} {}", pin.name, pin.version);
    if compiled {
        Check::ok("runtime", format!("{detail}, compiled"))
    } else {
        Check::warning("runtime", format!("{detail} is not here yet; the first call gets it"))
    }
}

fn check_python(python: Option<&Path>) -> Check {
    match provision::python_version(python) {
        Ok(version) => Check::ok("python", format!("{version} (only to fetch packages)")),
        Err(error) => Check::warning("python", error.to_string()),
    }
}

fn check_tier(tier: Tier, python: Option<&Path>, sandbox: SandboxChoice) -> Check {
    let what = match tier {
        Tier::Wasm => "tier wasm",
        Tier::Container => "tier container",
        Tier::Subprocess => "tier subprocess",
        Tier::InProcess => "tier in_process",
    };
    // A call in these tiers needs a base interpreter as well.
    let python = matches!(tier, Tier::Subprocess | Tier::InProcess).then(|| BasePython::find(python));
    match tier::available(tier, sandbox) {
        // Cells need no Python on this machine, so the version of Wasmtime is the detail.
        Ok(_) if tier == Tier::Wasm => Check::ok(what, format!("Wasmtime {}", skillcell_cell::WASMTIME_VERSION)),
        Ok(detail) => match python {
            Some(Err(error)) => Check::warning(what, error.to_string()),
            _ => Check::ok(what, detail),
        },
        Err(TierError::Unavailable { why, .. }) => Check::warning(what, why),
        Err(error) => Check::warning(what, error.to_string()),
    }
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Failed => "failed",
        }
    }

    fn style(self) -> Style {
        match self {
            State::Ok => AnsiColor::Green.on_default(),
            State::Warning => AnsiColor::Yellow.on_default().bold(),
            State::Failed => AnsiColor::Red.on_default().bold(),
        }
    }
}

impl Check {
    fn new(what: &'static str, state: State, detail: &str) -> Check {
        // Messages of other programs may span lines; a check is one row.
        let lines = detail.lines().map(str::trim).filter(|line| !line.is_empty());
        Check { what, state, detail: lines.collect::<Vec<_>>().join("; ") }
    }

    fn ok(what: &'static str, detail: String) -> Check {
        Check::new(what, State::Ok, &detail)
    }

    fn warning(what: &'static str, detail: String) -> Check {
        Check::new(what, State::Warning, &detail)
    }

    fn failed(what: &'static str, detail: String) -> Check {
        Check::new(what, State::Failed, &detail)
    }
}
