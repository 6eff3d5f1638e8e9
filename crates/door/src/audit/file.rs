//! The audit file. Each line is one `write` to a descriptor in append mode, so that lines of several threads and processes
//! never interleave; this holds for plain files on a local disk. Nothing is buffered and nothing is synced: a line survives
//! this process, but not necessarily a power failure.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::AuditError;

/// An open audit file.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    /// The file may end in the middle of a line that another writer could not finish.
    torn: AtomicBool,
}

impl LogFile {
    pub fn open(path: &Path) -> Result<LogFile, AuditError> {
        let failed = |source| AuditError::Open { path: path.to_owned(), source };
        // Opening a pipe must not wait for its reader.
        let no_wait = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600).custom_flags(no_wait);
        let file = options.open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(AuditError::NotAFile { path: path.to_owned() });
        }
        // Absolute, so that it stays valid if this process changes its directory.
        let path = std::path::absolute(path).map_err(failed)?;
        let torn = AtomicBool::new(is_torn(&path));
        Ok(LogFile { path, file, torn })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn append(&self, line: &str) -> Result<(), AuditError> {
        // Start on a new line if an earlier writer left an unfinished one.
        let torn = self.torn.swap(false, Ordering::Relaxed);
        let written = if torn { self.write(format!("\n{line}").as_bytes()) } else { self.write(line.as_bytes()) };
        written.map_err(|source| {
            self.torn.store(true, Ordering::Relaxed);
            AuditError::Write { path: self.path.clone(), source }
        })
    }

    /// Writes all bytes in one call or fails: a second write could land after another writer's line.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        loop {
            match (&self.file).write(bytes) {
                Ok(count) if count == bytes.len() => return Ok(()),
                Ok(count) => {
                    let message = format!("only {count} of {} bytes were written", bytes.len());
                    return Err(io::Error::new(ErrorKind::WriteZero, message));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether a file ends in an unfinished line. Checks several times, because another process may be writing one right now.
fn is_torn(path: &Path) -> bool {
    const LOOKS: usize = 10;
    const BETWEEN: Duration = Duration::from_millis(1);
    for _ in 0..LOOKS {
        if ends_well(path).unwrap_or(false) {
            return false;
        }
        std::thread::sleep(BETWEEN);
    }
    true
}

/// Whether a file is empty or ends in a line end.
fn ends_well(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn lines_of_many_writers_stay_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        std::thread::scope(|scope| {
            for writer in 0..8u8 {
                let log = LogFile::open(&path).unwrap();
                scope.spawn(move || {
                    let line = char::from(b'a' + writer).to_string().repeat(5000 + usize::from(writer)) + "\n";
                    (0..50).for_each(|_| log.append(&line).unwrap());
                });
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 400);
        for line in text.lines() {
            let first = line.as_bytes()[0];
            assert!(line.bytes().all(|byte| byte == first) && line.len() == 5000 + usize::from(first - b'a'));
        }
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_line_after_a_torn_one_stands_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        std::fs::write(&path, "{\"torn").unwrap();
        let log = LogFile::open(&path).unwrap();
        log.append("one\n").unwrap();
        log.append("two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"torn\none\ntwo\n");
    }

    #[test]
    fn what_is_not_a_plain_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(LogFile::open(Path::new("/dev/full")), Err(AuditError::NotAFile { .. })));
        assert!(matches!(LogFile::open(folder.path()), Err(AuditError::Open { .. })));
        let nowhere = folder.path().join("no/such/folder");
        assert!(matches!(LogFile::open(&nowhere), Err(AuditError::Open { .. })));
    }
}
