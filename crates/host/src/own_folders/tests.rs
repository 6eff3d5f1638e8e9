//! Ways to a path, with links on them.

use std::fs::{create_dir_all, rename, write};
use std::os::unix::fs::symlink;

use super::*;

struct Stage(tempfile::TempDir);

impl Stage {
    fn new(folders: &[&str]) -> Stage {
        let stage = Stage(tempfile::tempdir().unwrap());
        folders.iter().for_each(|folder| create_dir_all(stage.path(folder)).unwrap());
        stage
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(below)
    }

    /// Whether `kept` could be replaced by someone who may write in `mounted`.
    fn exposes(&self, mounted: &str, kept: &str) -> bool {
        let grant = MountGrant::parse(&format!("{}:/data:rw", self.path(mounted).display())).unwrap();
        let mount = Mounted::new(&grant).unwrap();
        exposing_mount(&[&mount], &self.path(kept), true).is_some()
    }
}

#[test]
fn a_folder_is_exposed_by_itself_by_what_is_above_and_by_what_is_below() {
    let stage = Stage::new(&["home/own/deep", "home/other", "elsewhere"]);
    for mounted in ["", "home", "home/own", "home/own/deep"] {
        assert!(stage.exposes(mounted, "home/own"), "{mounted}");
    }
    for mounted in ["home/other", "elsewhere"] {
        assert!(!stage.exposes(mounted, "home/own"), "{mounted}");
    }
}

#[test]
fn a_link_on_the_way_is_as_good_as_what_it_leads_to() {
    let stage = Stage::new(&["home/other", "middle", "disk/share/own"]);
    symlink(stage.path("middle/link"), stage.path("home/share")).unwrap();
    symlink("../disk/share", stage.path("middle/link")).unwrap();
    for mounted in ["home", "middle", "disk", "disk/share", "disk/share/own", "home/share/own"] {
        assert!(stage.exposes(mounted, "home/share/own"), "{mounted}");
    }
    assert!(!stage.exposes("home/other", "home/share/own"));
    // The other way to the same place does not pass there.
    assert!(!stage.exposes("home", "disk/share/own"));
}

#[test]
fn what_is_not_there_yet_could_be_made() {
    let stage = Stage::new(&["home", "elsewhere"]);
    assert!(stage.exposes("home", "home/.local/share/own"));
    assert!(!stage.exposes("elsewhere", "home/.local/share/own"));
    symlink(stage.path("elsewhere/not/yet"), stage.path("home/link")).unwrap();
    assert!(stage.exposes("elsewhere", "home/link/own"));
}

#[test]
fn dots_lead_up_from_where_a_link_led() {
    let stage = Stage::new(&["home", "disk/deep/own", "disk/own"]);
    symlink(stage.path("disk/deep"), stage.path("home/link")).unwrap();
    // Of the file system: disk/own. Of the text: home/own.
    for mounted in ["home", "disk"] {
        assert!(stage.exposes(mounted, "home/link/../own"), "{mounted}");
    }
    assert!(!stage.exposes("disk/deep/own", "home/link/../own"));
}

#[test]
fn links_in_a_circle_end() {
    let stage = Stage::new(&["home"]);
    symlink(stage.path("home/b"), stage.path("home/a")).unwrap();
    symlink(stage.path("home/a"), stage.path("home/b")).unwrap();
    assert!(stage.exposes("home", "home/a/own"));
}

#[test]
fn a_file_is_exposed_by_its_folder_and_by_nothing_below_its_name() {
    let stage = Stage::new(&["home", "disk"]);
    write(stage.path("disk/policy.toml"), "").unwrap();
    symlink("../disk/policy.toml", stage.path("home/policy.toml")).unwrap();
    assert!(stage.exposes("home", "home/policy.toml") && stage.exposes("disk", "home/policy.toml"));
    rename(stage.path("home/policy.toml"), stage.path("disk/link.toml")).unwrap();
    assert!(!stage.exposes("home", "disk/link.toml"));
}
