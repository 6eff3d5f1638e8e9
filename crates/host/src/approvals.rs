//! Approvals: what an operator agreed to, each for the exact content of a skill.
//!
//! ```text
//!   <folder>/approvals.json   {"schema": 1, "approvals": [{skill, place, digest, approved, permissions, tiers?, files}, …]}
//!   <folder>/approvals.lock   held while the file is replaced
//! ```
//!
//! An approval grants what the skill asked for in that state, and nothing once a file of it differs. So the record has a
//! digest of every file: it decides, and it tells what changed. The file is replaced whole, under a lock; reading
//! needs none. Whoever can write it decides what skills may do, so it must be this user's alone, and its content is
//! still read as untrusted: bounded, and an unknown key is an error.

mod difference;
mod error;
mod place;
mod record;
#[cfg(test)]
mod tests;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

pub use self::difference::{Difference, FileChange};
pub use self::error::ApprovalError;
pub use self::record::Approval;
use skillcell_packages::skill::Skill;
use skillcell_policy::Permissions;
use skillcell_policy::Tier;
use skillcell_quote as quote;

const FILE: &str = "approvals.json";
const LOCK: &str = "approvals.lock";
const MAX_FILE_BYTES: u64 = 16 << 20;

type SharedApprovals = Arc<[Arc<Approval>]>;
type Result<T> = std::result::Result<T, ApprovalError>;

/// The approvals in a folder.
#[derive(Debug)]
pub struct Approvals {
    folder: PathBuf,
    /// Whether commands have to name the folder to find it again.
    is_named: bool,
    read: Mutex<Option<(Stamp, SharedApprovals)>>,
}

/// Identifies a version of the file, which is only ever replaced as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp([i64; 5]);

/// Whether a skill is approved in its current state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalState {
    /// It was never approved, or that was revoked.
    Unknown,
    /// It is, file by file, what was approved.
    Approved(Arc<Approval>),
    /// It was approved, and is no longer what was approved.
    Changed(Arc<Approval>),
}

impl Approvals {
    /// In this folder; else in the one that `SKILLCELL_APPROVALS_DIR` names, else in the platform's usual one. It is
    /// made when something is first approved.
    pub fn locate(folder: Option<&Path>) -> Result<Approvals> {
        let (folder, is_named) = place::choose_folder(folder, &|name| std::env::var_os(name))?;
        Ok(Approvals { folder, is_named, read: Mutex::default() })
    }

    /// Where they are kept; it may not be there yet.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file with all of them, `approvals.json`; it may not be there yet.
    pub fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// All of them, in the order in which they were made.
    pub fn all(&self) -> Result<SharedApprovals> {
        let Some((file, stamp)) = self.open_file()? else { return Ok(Arc::default()) };
        if let Some((read, approvals)) = &*self.read.lock().unwrap_or_else(PoisonError::into_inner)
            && *read == stamp
        {
            return Ok(approvals.clone());
        }
        let approvals: SharedApprovals = self.read_approvals(file)?.into_iter().map(Arc::new).collect();
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some((stamp, approvals.clone()));
        Ok(approvals)
    }

    /// Whether a skill is approved with exactly the files that it has now.
    pub fn standing(&self, skill: &Skill) -> Result<ApprovalState> {
        let all = self.all()?;
        if let Some(approval) = all.iter().find(|approval| approval.digest == skill.digest()) {
            return Ok(ApprovalState::Approved(approval.clone()));
        }
        if all.is_empty() {
            return Ok(ApprovalState::Unknown);
        }
        let place = place::place_of(skill);
        let earlier = all.iter().rev().find(|approval| approval.place == place);
        Ok(earlier.map_or(ApprovalState::Unknown, |approval| ApprovalState::Changed(approval.clone())))
    }

    /// Records that `asked`, which is what the skill's manifest asks for, is approved, and for which tiers besides those
    /// that every approval is for. What was approved of the same place before is forgotten.
    pub fn approve(&self, skill: &Skill, asked: &Permissions, tiers: &[Tier]) -> Result<Arc<Approval>> {
        let approval = Arc::new(Approval {
            skill: skill.id().to_owned(),
            place: place::place_of(skill),
            digest: skill.digest().to_owned(),
            approved: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            permissions: asked.clone(),
            tiers: tiers.to_vec(),
            files: difference::file_digests(skill),
        });
        self.update_file(|approvals| {
            approvals.retain(|earlier| earlier.place != approval.place);
            approvals.push(approval.clone());
        })?;
        Ok(approval)
    }

    /// Forgets what was approved of a skill: of this content, wherever it was, and of this place.
    pub fn revoke(&self, skill: &Skill) -> Result<Vec<Arc<Approval>>> {
        let place = place::place_of(skill);
        self.remove_matching(|approval| approval.place == place || approval.digest == skill.digest())
    }

    /// The same for a skill that is no longer there, by the path or the id that it had.
    pub fn revoke_named(&self, name: &str) -> Result<Vec<Arc<Approval>>> {
        let place = place::resolved_path(Path::new(name));
        self.remove_matching(|approval| approval.place == place || approval.skill == name)
    }

    fn remove_matching(&self, is_meant: impl Fn(&Approval) -> bool) -> Result<Vec<Arc<Approval>>> {
        let (mut gone, folder) = (Vec::new(), &self.folder);
        if folder.exists() {
            self.update_file(|approvals| gone = approvals.extract_if(.., |approval| is_meant(approval)).collect())?;
        }
        Ok(gone)
    }

    /// The command that approves a skill, for a POSIX shell.
    pub fn command(&self, skill: &Skill) -> String {
        let folder = match self.is_named {
            true => format!(" --approvals-dir {}", quote::shell_word(&self.folder.to_string_lossy())),
            false => String::new(),
        };
        format!("skillcell approve{folder} {}", quote::shell_word(&skill.as_given()))
    }

    /// Reads, changes and replaces the file while no other does.
    fn update_file(&self, change: impl FnOnce(&mut Vec<Arc<Approval>>)) -> Result<()> {
        place::prepare_folder(&self.folder)?;
        let lock = self.folder.join(LOCK);
        let held = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&lock);
        let held = held.map_err(ApprovalError::io("open", &lock))?;
        held.lock().map_err(ApprovalError::io("lock", &lock))?;
        let before = self.all()?;
        let mut approvals = before.to_vec();
        change(&mut approvals);
        if approvals == *before {
            return Ok(());
        }
        let text = record::write(&approvals)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(ApprovalError::Full { path: self.file() });
        }
        self.replace_file(&text)
    }

    fn replace_file(&self, text: &str) -> Result<()> {
        let path = self.file();
        let failed = || ApprovalError::io("write", &path);
        // Made for its owner alone.
        let mut draft = tempfile::NamedTempFile::new_in(&self.folder).map_err(failed())?;
        draft.write_all(text.as_bytes()).and_then(|()| draft.as_file().sync_all()).map_err(failed())?;
        draft.persist(&path).map_err(|error| failed()(error.error))?;
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(failed())
    }

    fn open_file(&self) -> Result<Option<(File, Stamp)>> {
        let path = self.file();
        let file = match OpenOptions::new().read(true).custom_flags(place::NONBLOCKING).open(&path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(ApprovalError::io("open", &path)(error)),
        };
        let metadata = |of: std::io::Result<Metadata>, path: &Path| of.map_err(ApprovalError::io("inspect", path));
        place::check_ownership(&self.folder, &metadata(fs::metadata(&self.folder), &self.folder)?)?;
        let found = metadata(file.metadata(), &path)?;
        place::check_ownership(&path, &found)?;
        if !found.is_file() {
            return Err(ApprovalError::bad_file(&path, "it is no plain file"));
        }
        let length = i64::try_from(found.len()).unwrap_or(i64::MAX);
        let inode = found.ino().cast_signed();
        let stamp = Stamp([inode, length, found.mtime(), found.mtime_nsec(), found.ctime_nsec()]);
        Ok(Some((file, stamp)))
    }

    fn read_approvals(&self, file: File) -> Result<Vec<Approval>> {
        let (path, mut text) = (self.file(), String::new());
        file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).map_err(ApprovalError::io("read", &path))?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(ApprovalError::bad_file(&path, format!("it is longer than {} MiB", MAX_FILE_BYTES >> 20)));
        }
        record::read(&text).map_err(|problem| ApprovalError::bad_file(&path, problem))
    }
}
