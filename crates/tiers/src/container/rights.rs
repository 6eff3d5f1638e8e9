//! Whether the container's user may use a granted folder, if the engine runs as root. The container then runs as `nobody`,
//! so usually the folder's mode for others decides.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::arguments::NOBODY;
use crate::UnsupportedMount;
use skillcell_policy::{Mode, MountGrant};

/// The first folder that the user `nobody` may not use as granted.
pub fn inaccessible_mount(mounts: &[(PathBuf, MountGrant)]) -> Option<UnsupportedMount> {
    mounts.iter().find_map(|(folder, grant)| {
        let (needs, verb) = match grant.mode {
            Mode::ReadOnly => (0o5, "read"),
            Mode::ReadWrite => (0o7, "write to"),
        };
        // If it can't be inspected, mounting it fails with a better message.
        let found = folder.metadata().ok()?;
        (!has_rights(&found, needs)).then(|| UnsupportedMount {
            grant: grant.clone(),
            why: format!(
                "`{}` is granted, but a container that root starts runs as the user {NOBODY}, who may not {verb} `{}`",
                grant.guest,
                folder.display()
            ),
            instead: None,
            remedy: "give everybody that right (`chmod o+rwx`), use `--tier subprocess`, or run skillcell as an ordinary \
                     user, whose containers have that user's rights",
        })
    })
}

fn has_rights(found: &Metadata, needs: u32) -> bool {
    let shift = match () {
        () if found.uid() == NOBODY => 6,
        () if found.gid() == NOBODY => 3,
        () => 0,
    };
    (found.mode() >> shift) & needs == needs
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn nobody_reads_and_writes_what_everybody_may() {
        let place = tempfile::tempdir().unwrap();
        let refused = |mode: u32, grant: &str| {
            std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            let grant = MountGrant::parse(&format!("{}:/data{grant}", place.path().display())).unwrap();
            inaccessible_mount(&[(place.path().to_owned(), grant)]).map(|unsupported_mount| unsupported_mount.why)
        };
        assert_eq!(refused(0o755, ""), None);
        assert_eq!(refused(0o777, ":rw"), None);
        assert!(refused(0o755, ":rw").unwrap().contains("may not write to"));
        assert!(refused(0o700, "").unwrap().contains("may not read"));
    }
}
