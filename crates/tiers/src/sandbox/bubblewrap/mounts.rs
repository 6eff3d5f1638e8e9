//! Which mounts bubblewrap can make: none over the paths that the process itself needs.

use std::path::{Path, PathBuf};

use super::{LIBRARIES, LINKS, PACKAGES, RUNNER};
use crate::UnsupportedMount;
use skillcell_policy::MountGrant;

/// Besides libraries, and besides paths that no tier allows. Other paths in `/etc` can be mounted.
const RESERVED: [&str; 5] = [RUNNER, PACKAGES, "/etc/passwd", "/etc/group", "/etc/hosts"];

/// The first that can't be made.
pub fn unsupported_mount(mounts: &[(PathBuf, MountGrant)]) -> Option<UnsupportedMount> {
    let fixed = || RESERVED.iter().chain(&LIBRARIES).chain(&LINKS).map(Path::new);
    mounts.iter().find_map(|(_, grant)| why_hidden(grant, fixed()).map(|why| refuse_mount(grant, why)))
}

/// Why the mount would hide one of these places, or lie in one; `None` if it does not.
pub fn why_hidden<'a>(grant: &MountGrant, mut places: impl Iterator<Item = &'a Path>) -> Option<String> {
    let guest = Path::new(grant.guest.as_str());
    let place = places.find(|place| place.starts_with(guest) || guest.starts_with(place))?;
    Some(format!(
        "in `subprocess` nothing can be mounted as `{guest}`, since `{place}` is the tier's own",
        guest = guest.display(),
        place = place.display()
    ))
}

fn refuse_mount(grant: &MountGrant, why: String) -> UnsupportedMount {
    UnsupportedMount { grant: grant.clone(), why, instead: None, remedy: "mount it elsewhere, as `/data` for example" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_process_is_made_of_is_not_hidden() {
        let why = |guest: &str| {
            let grant = MountGrant::parse(&format!("/srv:{guest}")).unwrap();
            unsupported_mount(&[("/srv".into(), grant)]).map(|unsupported_mount| unsupported_mount.why)
        };
        for taken in ["/skillcell", "/packages/lib", "/usr/lib", "/usr/lib/python3", "/etc", "/lib64"] {
            assert!(why(taken).is_some_and(|why| why.contains("the tier's own")), "{taken}");
        }
        for free in ["/data", "/etc/app", "/usr/share/fonts", "/home/skill/in", "/tmp/in", "/opt", "/skillcells"] {
            assert_eq!(why(free), None, "{free}");
        }
    }
}
