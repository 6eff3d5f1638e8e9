//! A skill's files in a folder, as its tests expect them outside of a cell, with the plugin that reports.
//!
//! ```text
//!   FOLDER/skills/office/gmail_handler/…   the skill; above it, what makes its parents packages, and their fixtures
//!   FOLDER/skillcell_report.py             on the path
//!   FOLDER/home, FOLDER/tmp
//! ```

use std::io;
use std::path::{Path, PathBuf};

use skillcell_cache::Pack;
use skillcell_packages::skill::{Origin, Skill};

const REPORTER: &str = include_str!("../../../../runtime-assets/study/report.py");

pub fn lay_out(folder: &Path, skill: &Skill, registry: &Pack) -> io::Result<()> {
    skill.write_to(&skill_folder(folder, skill))?;
    lay_out_above(folder, skill, registry)?;
    std::fs::write(folder.join("skillcell_report.py"), REPORTER)?;
    ["home", "tmp"].iter().try_for_each(|name| std::fs::create_dir_all(folder.join(name)))
}

/// Where the skill is.
pub fn skill_folder(folder: &Path, skill: &Skill) -> PathBuf {
    folder.join("skills").join(skill.id())
}

/// What makes the folders above a skill packages, and its tests' fixtures.
fn lay_out_above(folder: &Path, skill: &Skill, registry: &Pack) -> io::Result<()> {
    let mut above = skill.id();
    let mut up = 1;
    loop {
        above = above.rsplit_once('/').map_or("", |(above, _)| above);
        let target = folder.join("skills").join(above);
        for name in ["__init__.py", "conftest.py"] {
            let bytes = match skill.origin() {
                Origin::Registry => registry.read(format!("{above}/{name}").trim_start_matches('/')),
                Origin::Memory => break,
                Origin::Folder(folder) => std::fs::read(folder.ancestors().nth(up).unwrap_or(folder).join(name)),
            };
            if let Ok(bytes) = bytes {
                std::fs::write(target.join(name), bytes)?;
            }
        }
        if above.is_empty() {
            return Ok(());
        }
        up += 1;
    }
}

/// The files of a pack in a folder, which is made.
pub fn unpack_files(pack: &Pack, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (path, _) in pack.files() {
        let place = folder.join(path);
        std::fs::create_dir_all(place.parent().unwrap_or(folder))?;
        std::fs::write(place, pack.read(path)?)?;
    }
    Ok(())
}
