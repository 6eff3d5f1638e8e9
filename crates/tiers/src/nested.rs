//! Mounts within mounts. Unlike a cell, the kernel needs an existing folder as a mount point. Creating it would change the
//! operator's folder, so a mount without a mount point is refused.

use std::path::{Component, Path, PathBuf};

use super::UnsupportedMount;
use skillcell_policy::MountGrant;

/// The first mount within another mount that has no folder at that path.
pub fn mount_without_folder(mounts: &[(PathBuf, MountGrant)]) -> Option<UnsupportedMount> {
    mounts.iter().find_map(|(_, grant)| {
        let (outer, rest) = enclosing_mount(grant, mounts)?;
        if is_folder_without_links(outer, rest) {
            return None;
        }
        let (place, folder) = (rest.display(), outer.display());
        let why = format!("`{}` can't be mounted: `{folder}`, in which it lies, has no folder `{place}`", grant.guest);
        Some(UnsupportedMount {
            grant: grant.clone(),
            why,
            instead: None,
            remedy: "make that folder, or mount it elsewhere",
        })
    })
}

/// The host folder of the innermost mount around this one, and the relative path from there.
fn enclosing_mount<'a>(grant: &'a MountGrant, mounts: &'a [(PathBuf, MountGrant)]) -> Option<(&'a Path, &'a Path)> {
    let seen = Path::new(grant.guest.as_str());
    let outer = mounts.iter().filter(|(_, other)| other.guest != grant.guest);
    let within =
        outer.filter_map(|(folder, other)| Some((folder.as_path(), seen.strip_prefix(other.guest.as_str()).ok()?)));
    within.min_by_key(|(_, rest)| rest.components().count())
}

/// Whether `rest` is a folder within `folder`. Links are not followed, since a skill may have made them.
fn is_folder_without_links(folder: &Path, rest: &Path) -> bool {
    let mut place = folder.to_owned();
    rest.components().all(|part| {
        place.push(part);
        matches!(part, Component::Normal(_)) && place.symlink_metadata().is_ok_and(|found| found.is_dir())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_in_another_needs_a_folder_there() {
        let place = tempfile::tempdir().unwrap();
        let (outer, other) = (place.path().join("outer"), place.path().join("other"));
        std::fs::create_dir_all(outer.join("a/b")).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, outer.join("link")).unwrap();
        let mount = |folder: &Path, seen: &str| {
            (folder.to_owned(), MountGrant::parse(&format!("{}:{seen}", folder.display())).unwrap())
        };
        let why = |inner: &str| {
            let mounts = [mount(&outer, "/data"), mount(&other, inner)];
            mount_without_folder(&mounts).map(|unsupported_mount| unsupported_mount.why)
        };
        assert_eq!(why("/elsewhere"), None);
        assert_eq!(why("/database"), None, "beside it");
        assert_eq!(why("/data/a/b"), None);
        assert!(why("/data/a/c").unwrap().ends_with("has no folder `a/c`"));
        assert!(why("/data/link").is_some(), "a link is no folder");
        let mounts = [mount(&outer, "/data"), mount(&other, "/data/a"), mount(&other, "/data/a/b")];
        assert!(mount_without_folder(&mounts).is_some(), "what is closest around it counts");
    }
}
