//! Sockets in granted folders. A container could connect to them, even in a read-only mount, and so reach a service of the
//! host. Its seccomp profile can't prevent that, since it needs Unix sockets for the proxy.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::UnsupportedMount;
use skillcell_policy::MountGrant;

/// How many entries are looked at. Sockets beyond that, and those created later, are not found.
const MAX_ENTRIES: usize = 50_000;

/// The first folder of these with a socket in it.
pub fn mount_with_socket(mounts: &[(PathBuf, MountGrant)]) -> Option<UnsupportedMount> {
    mounts.iter().find_map(|(folder, grant)| {
        let socket = find_socket(folder)?;
        let socket = socket.strip_prefix(folder).unwrap_or(&socket).display();
        Some(UnsupportedMount {
            grant: grant.clone(),
            why: format!(
                "`{}` is granted, but `{socket}` in it is a socket: a container could talk to whoever listens there",
                grant.guest
            ),
            instead: None,
            remedy: "grant a folder without it, or use `--tier subprocess`",
        })
    })
}

fn find_socket(folder: &Path) -> Option<PathBuf> {
    let (mut left, mut seen) = (vec![folder.to_owned()], 0);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            match entry.file_type() {
                _ if seen > MAX_ENTRIES => return None,
                Ok(kind) if kind.is_socket() => return Some(entry.path()),
                Ok(kind) if kind.is_dir() => left.push(entry.path()),
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_found_however_deep_and_by_no_link() {
        let place = tempfile::tempdir().unwrap();
        let (granted, other) = (place.path().join("granted/a/b"), place.path().join("other"));
        std::fs::create_dir_all(&granted).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, granted.join("link")).unwrap();
        let _elsewhere = std::os::unix::net::UnixListener::bind(other.join("s")).unwrap();
        assert_eq!(find_socket(&place.path().join("granted")), None);
        let _here = std::os::unix::net::UnixListener::bind(granted.join("s")).unwrap();
        assert_eq!(find_socket(&place.path().join("granted")), Some(granted.join("s")));
    }
}
