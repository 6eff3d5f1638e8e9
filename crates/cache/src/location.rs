//! Where the cache folder is, and whether its path can be trusted. Its content is checked elsewhere.
//!
//! The cache holds machine code that this program loads, so write access to it is as good as this user's account.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::{Bucket, Error, LAYOUT, Result};

/// The kernel's overflow uid, shown for owners that this user namespace does not map, as on a container's mounts.
const OVERFLOW_ID: u32 = 65534;

/// The folder to use: the explicit one, else the environment's, else the platform's usual one.
pub(super) fn choose_folder(explicit: Option<&Path>, var: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let set = |name: &str| var(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(path) = explicit.map(Path::to_owned).or_else(|| set("SKILLCELL_CACHE_DIR")) {
        return std::path::absolute(&path).map_err(Error::io("resolve", &path));
    }
    // The XDG specification asks that relative values be ignored.
    if let Some(base) = set("XDG_CACHE_HOME").filter(|p| p.is_absolute()) {
        return Ok(base.join("skillcell"));
    }
    let home = set("HOME").filter(|p| p.is_absolute()).ok_or(Error::NoPlace)?;
    let caches = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    Ok(home.join(caches).join("skillcell"))
}

/// Creates what is missing, checks it all, and returns the folder without symbolic links in its path.
pub(super) fn prepare_folder(folder: &Path) -> Result<PathBuf> {
    create_folder(folder)?;
    let root = fs::canonicalize(folder).map_err(Error::io("resolve", folder))?;
    check_ancestors(&root)?;
    check_folder(&root)?;
    let layout = root.join(LAYOUT);
    let inner = Bucket::ALL.iter().map(|b| b.as_str()).chain(["trees", "locks", "stamps", "tmp"]);
    for path in std::iter::once(layout.clone()).chain(inner.map(|name| layout.join(name))) {
        match create_folder(&path) {
            // In a read-only cache a missing folder is the same as an empty one.
            Err(Error::Io { source, .. }) if is_read_only(&source) && !path.exists() => continue,
            made => made?,
        }
        check_folder(&path)?;
    }
    Ok(root)
}

/// Whether the error means that the folder can't be written to at all.
pub(super) fn is_read_only(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let refusals = [Errno::ROFS, Errno::ACCESS, Errno::PERM];
    Errno::from_io_error(error).is_some_and(|errno| refusals.contains(&errno))
}

fn create_folder(path: &Path) -> Result<()> {
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Err(_) if fs::metadata(path).is_ok_and(|m| !m.is_dir()) => Err(Error::NotADirectory { path: path.to_owned() }),
        other => other.map_err(Error::io("create", path)),
    }
}

fn check_folder(path: &Path) -> Result<()> {
    let meta = fs::symlink_metadata(path).map_err(Error::io("inspect", path))?;
    let user = rustix::process::geteuid().as_raw();
    if !meta.is_dir() {
        return Err(Error::NotADirectory { path: path.to_owned() });
    }
    // Root's folder is accepted too: a container image may have a read-only cache.
    if ![0, user].contains(&meta.uid()) {
        return Err(Error::Owner { path: path.to_owned(), owner: meta.uid(), user });
    }
    if meta.mode() & 0o022 != 0 {
        return Err(Error::Open { path: path.to_owned(), mode: meta.mode() & 0o7777 });
    }
    Ok(())
}

/// Whoever can rename a folder above the cache can put another one in its place.
fn check_ancestors(root: &Path) -> Result<()> {
    let user = rustix::process::geteuid().as_raw();
    for ancestor in root.ancestors().skip(1) {
        let meta = fs::symlink_metadata(ancestor).map_err(Error::io("inspect", ancestor))?;
        let (path, ancestor) = (root.to_owned(), ancestor.to_owned());
        if ![0, user, OVERFLOW_ID].contains(&meta.uid()) {
            return Err(Error::AncestorOwner { path, ancestor, owner: meta.uid() });
        }
        if is_open_to_others(&meta, user) {
            return Err(Error::AncestorOpen { path, ancestor, mode: meta.mode() & 0o7777 });
        }
    }
    Ok(())
}

fn is_open_to_others(meta: &Metadata, user: u32) -> bool {
    // A group that has the user's own number is the private group of many distributions, and group 0
    // is the administrators': both are commonly given write access, and neither lets strangers in.
    let strangers = ![0, user].contains(&meta.gid());
    let writable = meta.mode() & 0o002 != 0 || (meta.mode() & 0o020 != 0 && strangers);
    let sticky = meta.mode() & 0o1000 != 0;
    writable && !sticky
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn chosen(explicit: Option<&str>, vars: &[(&str, &str)]) -> Option<PathBuf> {
        let var = |name: &str| vars.iter().find(|(k, _)| *k == name).map(|(_, v)| OsString::from(v));
        choose_folder(explicit.map(Path::new), &var).ok()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_explicit_folder_beats_the_environment_and_that_the_default() {
        let vars = [("SKILLCELL_CACHE_DIR", "/s"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(chosen(Some("/e"), &vars), Some("/e".into()));
        assert_eq!(chosen(None, &vars), Some("/s".into()));
        assert_eq!(chosen(None, &vars[1..]), Some("/x/skillcell".into()));
        assert_eq!(chosen(None, &[("SKILLCELL_CACHE_DIR", ""), ("XDG_CACHE_HOME", "/x")]), Some("/x/skillcell".into()));
        let home = if cfg!(target_os = "macos") { "/h/Library/Caches/skillcell" } else { "/h/.cache/skillcell" };
        assert_eq!(chosen(None, &[("XDG_CACHE_HOME", "rel"), ("HOME", "/h")]), Some(home.into()));
        assert_eq!(chosen(None, &[]), None);
    }

    #[test]
    fn a_new_cache_is_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let root = prepare_folder(&dir.path().join("a/b")).unwrap();
        for folder in [root.clone(), root.join("v1"), root.join("v1/code"), root.join("v1/tmp")] {
            assert_eq!(fs::metadata(folder).unwrap().mode() & 0o7777, 0o700);
        }
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused_with_the_command_that_mends_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("c");
        prepare_folder(&root).unwrap();
        for bad in [0o770, 0o702] {
            set_mode(&root, bad);
            let error = prepare_folder(&root).unwrap_err();
            assert!(matches!(&error, Error::Open { mode, .. } if *mode == bad), "{error}");
            assert!(error.hint().unwrap().contains("chmod -R go-w"));
        }
        set_mode(&root, 0o755);
        assert!(prepare_folder(&root).is_ok());
    }

    #[test]
    fn an_ancestor_that_everyone_can_write_to_is_refused_unless_sticky() {
        let dir = tempfile::tempdir().unwrap();
        let shared = dir.path().join("shared");
        fs::create_dir(&shared).unwrap();
        set_mode(&shared, 0o777);
        let error = prepare_folder(&shared.join("c")).unwrap_err();
        assert!(matches!(error, Error::AncestorOpen { .. }), "{error}");
        set_mode(&shared, 0o1777);
        assert!(prepare_folder(&shared.join("c")).is_ok());
    }

    #[test]
    fn a_file_or_an_inner_symbolic_link_in_place_of_a_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        fs::write(&file, "").unwrap();
        assert!(matches!(prepare_folder(&file), Err(Error::NotADirectory { .. })));
        let root = prepare_folder(&dir.path().join("c")).unwrap();
        fs::remove_dir(root.join("v1/code")).unwrap();
        symlink("/tmp", root.join("v1/code")).unwrap();
        assert!(matches!(prepare_folder(&root), Err(Error::NotADirectory { .. })));
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return; // only root can give a folder away
        }
        let dir = tempfile::tempdir().unwrap();
        let root = prepare_folder(&dir.path().join("p/c")).unwrap();
        std::os::unix::fs::chown(&root, Some(4242), None).unwrap();
        assert!(matches!(prepare_folder(&root), Err(Error::Owner { owner: 4242, .. })));
        std::os::unix::fs::chown(&root, Some(0), None).unwrap();
        std::os::unix::fs::chown(dir.path().join("p"), Some(4242), None).unwrap();
        assert!(matches!(prepare_folder(&root), Err(Error::AncestorOwner { .. })));
    }
}
