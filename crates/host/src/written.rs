//! Puts the files that a script wrote into a folder of the host. Their names and bytes are a stranger's: nothing is followed that
//! leads out of the folder, and a link that lies where a file goes is replaced, not followed.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use std::io::Write;

use crate::entry::WrittenFile;

/// Why a file could not be put there.
#[derive(Debug, thiserror::Error)]
#[error("`{}` can't be written", .path.display())]
pub struct WriteOutError {
    /// Where it was to go.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// Writes these files below `folder`, which is made if it is not there.
pub fn write_files(folder: &Path, files: &[WrittenFile]) -> Result<(), WriteOutError> {
    let failed = |path: &str| {
        let path = folder.join(path);
        move |source| WriteOutError { path, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(""))?;
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(failed(""))?;
    for file in files {
        write_file(&dir, file).map_err(failed(&file.path))?;
    }
    Ok(())
}

fn write_file(dir: &Dir, file: &WrittenFile) -> io::Result<()> {
    if !is_plain_path(&file.path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain path below the folder"));
    }
    let path = Path::new(&file.path);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        dir.create_dir_all(parent)?;
    }
    // Written beside its place and then moved there: what was there is replaced whole, a link included.
    let beside = parent.unwrap_or(Path::new("")).join(format!(".skillcell-{}", std::process::id()));
    let _ = dir.remove_file(&beside);
    let written = dir
        .open_with(&beside, OpenOptions::new().write(true).create_new(true))
        .and_then(|mut out| out.write_all(&file.bytes))
        .and_then(|()| dir.rename(&beside, dir, path));
    written.inspect_err(|_| drop(dir.remove_file(&beside)))
}

/// Names joined by `/`, none of which means anything but itself.
fn is_plain_path(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|name| !matches!(name, "" | "." | "..") && !name.contains(['\0', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> WrittenFile {
        WrittenFile { path: path.to_owned(), bytes: b"new".to_vec() }
    }

    #[test]
    fn a_link_in_the_folder_is_replaced_and_never_followed() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let victim = other.path().join("victim");
        std::fs::write(&victim, "old").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("a.txt")).unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("out")).unwrap();
        write_files(folder.path(), &[file("a.txt"), file("deep/er/b.txt")]).unwrap();
        assert!(write_files(folder.path(), &[file("out/victim")]).is_err());
        assert_eq!(std::fs::read(&victim).unwrap(), b"old");
        assert_eq!(std::fs::read(folder.path().join("a.txt")).unwrap(), b"new");
        assert_eq!(std::fs::read(folder.path().join("deep/er/b.txt")).unwrap(), b"new");
    }

    #[test]
    fn a_path_that_climbs_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["../x", "a/../../x", "/x", "", "a//b", "a/./b", "a\0"] {
            assert!(write_files(&folder.path().join("in"), &[file(path)]).is_err(), "{path:?}");
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["in"]);
    }
}
