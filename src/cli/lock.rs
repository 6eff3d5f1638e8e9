//! `skillcell lock`: what a skill's requirements resolve to, written beside it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::SettingArgs;
use super::origin::find_skill;
use super::printer::{Printer, escape_unprintable};
use skillcell_limits::RuntimeKind;
use skillcell_packages::skill::Origin;
use skillcell_packages::{LOCK_FILE, Package, PackageStatus, SkillLock};

/// Resolve a skill's requirements and pin them in skillcell.lock
///
/// A skill's requirements are resolved when they are first needed, by pip with your own settings, and what they
/// resolved to is kept in the cache. A lock makes that the same everywhere: it lists every package with its version and
/// the sha256 of its wheel, lies beside skill.py, and is then used and verified instead of resolving again, in every
/// tier: it has packages for cells, for this machine's Python, and for that of the containers' base image if that is
/// here. It names no index. Packages that exist only as native code are listed as missing for cells: a skill runs there
/// without those until it imports them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell lock ./my_skill           # writes ./my_skill/skillcell.lock
  skillcell lock ./my_skill --print   # shows what it would be
  skillcell lock creative/deck_builder --output deck_builder.lock
  skillcell lock ./my_skill --offline --from-wheel ./wheels")]
pub struct LockCommand {
    /// A folder with a skill.py, or with a SKILL.md and scripts, or an id such as creative/deck_builder
    skill: String,
    /// Write it here instead of beside the skill
    #[arg(long, short, value_name = "FILE", conflicts_with = "print")]
    output: Option<PathBuf>,
    /// Print it to stdout and write nothing
    #[arg(long)]
    print: bool,
}

impl LockCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        if let Some(file) = &self.output {
            check_can_be_written(file)?;
        }
        let host = args.build_host(&args.load_settings()?)?;
        let skill = find_skill(&host, &self.skill, args.quiet, printer)?;
        let place = match (&self.output, skill.origin()) {
            _ if self.print => None,
            (Some(file), _) => Some(file.clone()),
            (None, Origin::Folder(folder)) => Some(folder.join(LOCK_FILE)),
            (None, _) => anyhow::bail!(
                "`{}` is a skill of the registry, which has no folder to write to: use --print or --output FILE",
                skill.id()
            ),
        };
        let lock = host.lock(&skill)?;
        drop(host); // clears the progress line
        let packages = &lock.cells;
        // A lock with a gap would pin nothing for that package.
        if let Some(unresolved) =
            packages.packages.iter().find(|p| matches!(p.standing, PackageStatus::Unresolved { .. }))
        {
            anyhow::bail!("there is nothing to pin: {}", unresolved.describe());
        }
        let text = lock.to_text();
        match place {
            None => printer.print_data(text.trim_end()),
            Some(place) => {
                std::fs::write(&place, text).with_context(|| format!("can't write `{}`", place.display()))?;
                print_summary(&lock, printer);
                printer.print_line(&format!("wrote {}", place.display()));
            }
        }
        // Not an error: a tier without locked packages reports that when it is asked to run the skill.
        for (python, why) in &lock.not_locked {
            printer.print_note(&escape_unprintable(&format!("nothing is locked for {python}: {why}")));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Fails early: resolving packages takes a while.
fn check_can_be_written(file: &Path) -> anyhow::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if file.is_dir() || !folder.is_dir() {
        let why = if file.is_dir() { "it is a folder" } else { "its folder is not there" };
        anyhow::bail!("--output: `{}` can't be written: {why}", file.display());
    }
    Ok(())
}

fn print_summary(lock: &SkillLock, printer: &Printer) {
    let packages = &lock.cells;
    for package in &packages.packages {
        printer.print_line(&escape_unprintable(&format!("  {}", package_line(package))));
    }
    for (text, why) in &packages.refused {
        printer.print_line(&escape_unprintable(&format!("  {text}: not taken, {why}")));
    }
    for text in &packages.not_needed {
        printer.print_line(&escape_unprintable(&format!("  {text}: not needed in a cell")));
    }
    for (target, count) in lock.other_targets() {
        let whose = match target.parse::<RuntimeKind>() {
            Ok(kind) => format!("cells of `{kind}`"),
            Err(_) => format!("Python {target}, in other tiers"),
        };
        printer.print_line(&escape_unprintable(&format!("  and {count} packages for {whose}")));
    }
}

fn package_line(package: &Package) -> String {
    match &package.standing {
        PackageStatus::Wheel { version, sha256, .. } => {
            format!(
                "{} {version} sha256:{}… ({})",
                package.name,
                &sha256[..sha256.len().min(12)],
                package.requirement_chain()
            )
        }
        _ => package.describe().replace('`', ""),
    }
}
