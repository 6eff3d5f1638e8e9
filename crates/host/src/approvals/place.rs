//! Places: of the approvals, with who may write there; and of skills, by which a changed one is known again.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{ApprovalError, Result};
use skillcell_packages::skill::{Origin, Skill};

pub const FOLDER_VARIABLE: &str = "SKILLCELL_APPROVALS_DIR";
/// Opening must not block if there is a pipe in the file's place.
pub const NONBLOCKING: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// The folder to use, and whether it was named by hand.
pub fn choose_folder(explicit: Option<&Path>, var: &dyn Fn(&str) -> Option<OsString>) -> Result<(PathBuf, bool)> {
    let set = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let full = |path: &Path| std::path::absolute(path).map_err(ApprovalError::io("resolve", path));
    let variable = set(FOLDER_VARIABLE);
    match (explicit.filter(|path| !path.as_os_str().is_empty()), &variable) {
        (Some(path), variable) => return Ok((full(path)?, variable.as_deref() != Some(path))),
        (None, Some(path)) => return Ok((full(path)?, false)),
        (None, None) => {}
    }
    // The XDG specification asks that relative values be ignored.
    if let Some(base) = set("XDG_DATA_HOME").filter(|path| path.is_absolute()) {
        return Ok((base.join("skillcell"), false));
    }
    let home = set("HOME").filter(|path| path.is_absolute()).ok_or(ApprovalError::NoPlace)?;
    let data = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    Ok((home.join(data).join("skillcell"), false))
}

/// Makes the folder if it is missing, closed to others.
pub fn prepare_folder(folder: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(ApprovalError::io("create", folder))?;
    check_ownership(folder, &fs::metadata(folder).map_err(ApprovalError::io("inspect", folder))?)
}

/// Whether only this user, or the administrator, can write there.
pub fn check_ownership(path: &Path, metadata: &Metadata) -> Result<()> {
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    if ![0, rustix::process::geteuid().as_raw()].contains(&owner) || mode & 0o022 != 0 {
        return Err(ApprovalError::Open { path: path.to_owned(), owner, mode });
    }
    Ok(())
}

/// Where a skill is: the full path of its folder, or its id in the registry.
pub fn place_of(skill: &Skill) -> String {
    match skill.origin() {
        Origin::Folder(path) => resolved_path(path),
        Origin::Registry => format!("registry:{}", skill.id()),
        Origin::Memory => format!("memory:{}", skill.id()),
    }
}

/// The absolute path, without symbolic links if it exists.
pub fn resolved_path(path: &Path) -> String {
    let full = fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    full.unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}
