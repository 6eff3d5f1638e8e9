//! The files of one call, apart from packages: the skill, the runner with the guest's modules, and a minimal `/etc`. They are
//! written into a private temporary folder that is removed after the call.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use skillcell_assets::{GUEST_FILES, NATIVE_CONTAINER, NATIVE_RUN};
use skillcell_packages::skill::Skill;

const PASSWD: &str = "skill:x:1000:1000:skill:/home/skill:/usr/sbin/nologin\n";
const GROUP: &str = "skill:x:1000:\n";
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// Removed, with all that is in it, when dropped.
pub struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    pub fn write(skill: &Skill) -> io::Result<Files> {
        let files = Files { folder: tempfile::Builder::new().prefix("skillcell-").tempdir()? };
        skill.write_to(&files.skill_folder())?;
        let runner = files.runner_folder();
        for (path, bytes) in GUEST_FILES {
            let place = runner.join("guest").join(path);
            fs::create_dir_all(place.parent().unwrap_or(&runner))?;
            fs::write(place, bytes)?;
        }
        fs::write(runner.join("run.py"), NATIVE_RUN)?;
        fs::write(runner.join("container.py"), NATIVE_CONTAINER)?;
        fs::create_dir(files.etc_folder())?;
        for (name, text) in [("passwd", PASSWD), ("group", GROUP), ("hosts", HOSTS)] {
            fs::write(files.etc_folder().join(name), text)?;
        }
        // For the proxy's socket, which no other user may reach.
        fs::create_dir(files.socket_folder())?;
        fs::set_permissions(files.folder.path(), fs::Permissions::from_mode(0o700))?;
        Ok(files)
    }

    /// The skill's own files.
    pub fn skill_folder(&self) -> PathBuf {
        self.folder.path().join("skill")
    }

    /// The folder with `run.py`, `container.py` and the guest's modules.
    pub fn runner_folder(&self) -> PathBuf {
        self.folder.path().join("ours")
    }

    pub fn etc_folder(&self) -> PathBuf {
        self.folder.path().join("etc")
    }

    /// Makes what is mounted readable for a container's user, whatever the umask is. The folder around it stays private, so
    /// other users still can't reach it by path.
    pub fn open_to_others(&self) -> io::Result<()> {
        for place in [self.skill_folder(), self.runner_folder(), self.socket_folder()] {
            make_readable(&place)?;
        }
        fs::set_permissions(self.socket_path(), fs::Permissions::from_mode(0o666))
    }

    pub fn socket_path(&self) -> PathBuf {
        self.socket_folder().join("http")
    }

    pub fn socket_folder(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    /// Where a scratch folder on the host may be created. It does not exist yet.
    pub fn scratch_folder(&self) -> PathBuf {
        self.folder.path().join("scratch")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn make_readable(place: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(place)?.file_type();
    if kind.is_dir() {
        fs::set_permissions(place, fs::Permissions::from_mode(0o755))?;
        for entry in fs::read_dir(place)? {
            make_readable(&entry?.path())?;
        }
    } else if kind.is_file() {
        fs::set_permissions(place, fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}
