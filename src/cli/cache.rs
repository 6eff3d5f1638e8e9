//! `skillcell cache`: what is kept, and getting rid of it.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use serde_json::json;

use super::SettingArgs;
use super::printer::{Printer, format_bytes};
use skillcell_cache::{Bucket, Entry, Selection};

/// List or clean what skillcell keeps on disk
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell cache list
  skillcell cache clean --unused-for 7")]
pub struct CacheCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Show everything in the cache folder
    #[command(after_help = "\
Examples:
  skillcell cache list
  skillcell cache list --json | jq '.images.bytes'")]
    List {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete images, so that they are baked anew; or more, or less
    #[command(after_help = "\
Examples:
  skillcell cache clean                  # the images
  skillcell cache clean --unused-for 7   # what was not used for a week
  skillcell cache clean --all            # all, the compiled runtime too")]
    Clean {
        /// Delete everything, the compiled runtime too
        #[arg(long, conflicts_with_all = ["unused_for", "damaged"])]
        all: bool,
        /// Delete only what was not used for so many days
        #[arg(long, value_name = "DAYS", conflicts_with = "damaged")]
        unused_for: Option<u64>,
        /// Delete only what is damaged or half written
        #[arg(long)]
        damaged: bool,
    },
}

impl CacheCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        match &self.verb {
            Verb::List { json } => list_entries(args, *json, printer),
            Verb::Clean { all, unused_for, damaged } => {
                let selection = match (all, unused_for, damaged) {
                    (true, ..) => Selection::All,
                    (_, Some(days), _) => Selection::UnusedFor(Duration::from_secs(days.saturating_mul(86_400))),
                    (_, _, true) => Selection::Damaged,
                    _ => Selection::Bucket(Bucket::Image),
                };
                clean_entries(args, &selection, printer)
            }
        }
    }
}

fn list_entries(args: &SettingArgs, as_json: bool, printer: &Printer) -> anyhow::Result<ExitCode> {
    let host = args.build_host(&args.load_settings()?)?;
    let entries = host.cache().list()?;
    let folder = host.cache().root().to_owned();
    let (used, most) = host.image_bytes()?;
    if as_json {
        let rows: Vec<_> = entries.iter().map(|entry| entry_json(&host, entry)).collect();
        let images = json!({"bytes": used, "max_bytes": most});
        printer.print_json(&json!({"schema": 1, "folder": folder, "images": images, "entries": rows}));
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = entries.iter().map(|entry| entry_row(&host, entry)).collect();
    printer.print_line(&folder.display().to_string());
    printer.print_table(&["kind", "what", "size", "used", "state"], &rows);
    let total = entries.iter().map(|entry| entry.bytes).sum();
    printer.print_line(&format!("{} files, {}", entries.len(), format_bytes(total)));
    printer.print_line(&format!(
        "images take {} of at most {} (`--max-images`)",
        format_bytes(used),
        format_bytes(most)
    ));
    Ok(ExitCode::SUCCESS)
}

fn clean_entries(args: &SettingArgs, selection: &Selection, printer: &Printer) -> anyhow::Result<ExitCode> {
    let cleaned = args.build_host(&args.load_settings()?)?.cache().clean(selection)?;
    for entry in &cleaned.busy {
        printer.print_warning(&format!("`{}` is in use and stays", entry.name));
    }
    printer.print_note(&format!("removed {} files, {}", cleaned.removed.len(), format_bytes(cleaned.bytes())));
    Ok(ExitCode::SUCCESS)
}

fn entry_row(host: &skillcell_host::Host, entry: &Entry) -> Vec<String> {
    vec![
        entry.bucket.to_string(),
        skill_of(host, entry).unwrap_or_else(|| entry.name.clone()),
        format_bytes(entry.bytes),
        entry.last_used.map_or_else(String::new, describe_age),
        entry.flaw.as_ref().map_or_else(|| "ok".to_owned(), ToString::to_string),
    ]
}

fn entry_json(host: &skillcell_host::Host, entry: &Entry) -> serde_json::Value {
    let unix = |time: Option<SystemTime>| {
        time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).map(|since| since.as_secs())
    };
    json!({
        "kind": entry.bucket, "name": entry.name, "skill": skill_of(host, entry), "bytes": entry.bytes,
        "made": unix(entry.made), "last_used": unix(entry.last_used), "flaw": entry.flaw.as_ref().map(ToString::to_string),
    })
}

/// Whose image an entry is.
fn skill_of(host: &skillcell_host::Host, entry: &Entry) -> Option<String> {
    if entry.bucket != Bucket::Image {
        return None;
    }
    let meta = host.cache().meta(entry.bucket, &entry.name).ok()??;
    let skill = meta["report"]["skill"].as_str()?;
    Some(if skill.is_empty() { "(framework)".to_owned() } else { skill.to_owned() })
}

fn describe_age(time: SystemTime) -> String {
    let seconds = time.elapsed().unwrap_or_default().as_secs();
    match seconds {
        0..120 => "just now".to_owned(),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
