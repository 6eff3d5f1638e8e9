//! Which mounts are possible without a mount namespace: a folder is visible at its own path only, and a Landlock rule for a
//! folder applies to everything below it.

use std::path::{Path, PathBuf};

use crate::UnsupportedMount;
use skillcell_policy::{Mode, MountGrant};

const INSTALL: &str = "install bubblewrap";

/// The first that can't be made.
pub fn unsupported_mount(mounts: &[(PathBuf, MountGrant)]) -> Option<UnsupportedMount> {
    mounts.iter().find_map(|(folder, grant)| {
        mounted_elsewhere(folder, grant)
            .or_else(|| read_only_in_writable(folder, grant, mounts))
            .or_else(|| contains_call_files(folder, grant))
    })
}

fn mounted_elsewhere(folder: &Path, grant: &MountGrant) -> Option<UnsupportedMount> {
    let seen = Path::new(grant.guest.as_str());
    if seen.canonicalize().is_ok_and(|seen| seen == folder) {
        return None;
    }
    let why = format!(
        "without bubblewrap a skill in `subprocess` sees this machine's paths, so `{}` can't be mounted as `{}`",
        folder.display(),
        grant.guest
    );
    let place = folder.to_str().filter(|place| skillcell_policy::GuestPath::parse(place).is_ok());
    let instead = place.map(|place| format!("--mount {place}:{place}:{}", grant.mode.name()));
    Some(UnsupportedMount { grant: grant.clone(), why, instead, remedy: INSTALL })
}

/// Refuses a read-only mount within a writable one.
fn read_only_in_writable(
    folder: &Path,
    grant: &MountGrant,
    mounts: &[(PathBuf, MountGrant)],
) -> Option<UnsupportedMount> {
    let writable = mounts.iter().filter(|(_, other)| other.mode == Mode::ReadWrite);
    let (around, _) =
        writable.filter(|_| grant.mode == Mode::ReadOnly).find(|(around, _)| folder.starts_with(around))?;
    let why = format!(
        "without bubblewrap `{}` can't be read-only, since it is in `{}`, which may be written",
        folder.display(),
        around.display()
    );
    Some(UnsupportedMount { grant: grant.clone(), why, instead: None, remedy: INSTALL })
}

/// Refuses a mount around the folder for temporary files, where the files of all calls are.
fn contains_call_files(folder: &Path, grant: &MountGrant) -> Option<UnsupportedMount> {
    let temp_folder = std::env::temp_dir().canonicalize().ok()?;
    if !temp_folder.starts_with(folder) {
        return None;
    }
    let why = format!(
        "without bubblewrap `{}` can't be mounted: the files of all calls are written in `{}`, which is in it",
        folder.display(),
        temp_folder.display()
    );
    Some(UnsupportedMount { grant: grant.clone(), why, instead: None, remedy: INSTALL })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(mounts: &[(&Path, &Path, &str)]) -> Option<(String, Option<String>)> {
        let granted = mounts.iter().map(|(host, guest, mode)| {
            let text = format!("{}:{}:{mode}", host.display(), guest.display());
            (host.canonicalize().unwrap(), MountGrant::parse(&text).unwrap())
        });
        unsupported_mount(&granted.collect::<Vec<_>>())
            .map(|unsupported_mount| (unsupported_mount.why, unsupported_mount.instead))
    }

    #[test]
    fn a_folder_is_mounted_where_it_is_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        let (inner, link) = (folder.join("inner"), folder.join("link"));
        std::fs::create_dir(&inner).unwrap();
        std::os::unix::fs::symlink(&inner, &link).unwrap();
        assert!(why(&[(&folder, &folder, "rw"), (&inner, &inner, "rw")]).is_none());
        assert!(why(&[(&folder, &folder, "ro"), (&inner, &inner, "rw")]).is_none());
        assert!(why(&[(&link, &link, "ro")]).is_none(), "it leads there");
        let (said, instead) = why(&[(&inner, Path::new("/data"), "rw")]).unwrap();
        assert!(said.contains("can't be mounted as `/data`"), "{said}");
        assert_eq!(instead, Some(format!("--mount {0}:{0}:rw", inner.display())));
        let (said, _) = why(&[(&inner, &inner, "ro"), (&folder, &folder, "rw")]).unwrap();
        assert!(said.contains("can't be read-only"), "{said}");
    }

    #[test]
    fn what_calls_are_made_of_is_not_mounted() {
        let temp_folder = std::env::temp_dir().canonicalize().unwrap();
        let Ok(grant) = MountGrant::parse(&format!("{0}:{0}/x:rw", temp_folder.display())) else { return };
        assert!(contains_call_files(&temp_folder, &grant).is_some());
        assert!(contains_call_files(&temp_folder.join("deeper"), &grant).is_none());
    }
}
