//! Unpacks wheels into a folder of packages. What a wheel names was checked when it was opened: no path leads out of the
//! folder, none is there twice, nothing is a link. Where two wheels have the same file, the first one's stays.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{Result, VenvError};
use crate::provision::Wheel;
use crate::site_path;

/// The most files and bytes of one environment.
const MAX_FILES: usize = 500_000;
const MAX_BYTES: u64 = 32 << 30;

pub struct Unpacker<'a> {
    site: &'a Path,
    files: usize,
    bytes: u64,
}

impl Unpacker<'_> {
    /// Into this folder, which is made if it is not there.
    pub fn new(site: &Path) -> Result<Unpacker<'_>> {
        fs::create_dir_all(site).map_err(VenvError::io("create", site))?;
        Ok(Unpacker { site, files: 0, bytes: 0 })
    }

    /// Writes the files of a wheel.
    pub fn unpack(&mut self, wheel: &mut Wheel) -> Result<()> {
        for member in wheel.members().to_vec() {
            let Some(path) = site_path(&member.path, None) else { continue };
            self.files += 1;
            self.bytes = self.bytes.saturating_add(member.bytes);
            if self.files > MAX_FILES || self.bytes > MAX_BYTES {
                let what = format!("the packages have more than {} GiB or {MAX_FILES} files", MAX_BYTES >> 30);
                return Err(VenvError::Unmet { what });
            }
            let path = self.site.join(path);
            let Some(file) = create_file(&path, member.executable)? else { continue };
            let mut out = BufWriter::new(file);
            wheel.copy_member(&member, &mut out)?;
            out.flush().map_err(VenvError::io("write", &path))?;
        }
        Ok(())
    }
}

/// A new file; `None` where there is one already, or where a folder of it is a file.
fn create_file(path: &PathBuf, executable: bool) -> Result<Option<File>> {
    let folder = path.parent().unwrap_or(path);
    let mode = if executable { 0o755 } else { 0o644 };
    let made =
        fs::create_dir_all(folder).and_then(|()| OpenOptions::new().write(true).create_new(true).mode(mode).open(path));
    match made {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(VenvError::io("create", path)(error)),
    }
}
