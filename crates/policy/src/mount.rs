//! Folders of the host in a cell: `HOST:GUEST[:ro|rw]`, read-only unless it says otherwise.
//!
//! A guest path has one accepted spelling. The host path is not resolved here.

use std::fmt;
use std::str::FromStr;

use super::quote::{brief, is_plain};

const MAX_HOST_BYTES: usize = 4096;
const MAX_GUEST_BYTES: usize = 1024;
const MAX_SEGMENT_BYTES: usize = 255;
/// Where the runtime and the skill live: nothing is mounted at, above or below these.
const TAKEN: [&str; 4] = ["/usr/local", "/skills", "/dev", "/proc"];
/// Scratch space: mounts go below it, not over it.
const SCRATCH: [&str; 2] = ["/tmp", "/home/skill"];

/// Why a text is not a valid mount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMount {
    #[error("`{0}` is not `HOST:GUEST[:ro|rw]`")]
    Form(String),
    #[error("`{0}` is neither `ro` nor `rw`")]
    Mode(String),
    #[error("the host path in `{0}` is empty, too long, or has a NUL")]
    Host(String),
    #[error("the guest path `{0}` is not absolute")]
    NotAbsolute(String),
    #[error(
        "the guest path `{0}` has an empty, `.` or `..` segment, one that is too long, or a character that no path should have"
    )]
    Segment(String),
    #[error("the guest path is longer than {MAX_GUEST_BYTES} bytes")]
    TooLong,
    #[error("the guest path `{path}` would hide `{taken}`")]
    Taken { path: String, taken: &'static str },
}

/// What may be done in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Mode {
    #[default]
    ReadOnly,
    ReadWrite,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::ReadOnly => "ro",
            Mode::ReadWrite => "rw",
        }
    }
}

impl FromStr for Mode {
    type Err = BadMount;

    fn from_str(text: &str) -> Result<Mode, BadMount> {
        match text {
            "ro" => Ok(Mode::ReadOnly),
            "rw" => Ok(Mode::ReadWrite),
            _ => Err(BadMount::Mode(brief(text))),
        }
    }
}

/// An absolute path in a cell, in its one spelling, where a folder may be mounted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuestPath(String);

impl GuestPath {
    /// A trailing slash is dropped; other spellings are refused.
    pub fn parse(text: &str) -> Result<GuestPath, BadMount> {
        if text.len() > MAX_GUEST_BYTES {
            return Err(BadMount::TooLong);
        }
        let segments = text.strip_prefix('/').ok_or_else(|| BadMount::NotAbsolute(brief(text)))?;
        let segments = segments.strip_suffix('/').unwrap_or(segments);
        let odd = |c: char| !is_plain(c) || matches!(c, '\\' | ':');
        let bad = |segment: &str| {
            matches!(segment, "" | "." | "..") || segment.len() > MAX_SEGMENT_BYTES || segment.contains(odd)
        };
        if !segments.is_empty() && segments.split('/').any(bad) {
            return Err(BadMount::Segment(brief(text)));
        }
        let path = GuestPath(format!("/{segments}"));
        match path.hidden_folder() {
            Some(taken) => Err(BadMount::Taken { path: brief(text), taken }),
            None => Ok(path),
        }
    }

    fn hidden_folder(&self) -> Option<&'static str> {
        let taken = TAKEN.into_iter().find(|taken| is_at_or_below(&self.0, taken) || is_at_or_below(taken, &self.0));
        taken.or_else(|| SCRATCH.into_iter().find(|scratch| is_at_or_below(scratch, &self.0)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    let folder = folder.strip_suffix('/').unwrap_or(folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl fmt::Display for GuestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A folder of the host that a cell sees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MountGrant {
    pub host: String,
    pub guest: GuestPath,
    pub mode: Mode,
}

impl MountGrant {
    /// Parses from the right, so that the host path may contain colons.
    pub fn parse(text: &str) -> Result<MountGrant, BadMount> {
        let form = || BadMount::Form(brief(text));
        let (rest, last) = text.rsplit_once(':').ok_or_else(form)?;
        let (host, guest, mode) = match last.starts_with('/') {
            true => (rest, last, Mode::ReadOnly),
            false => {
                let (host, guest) = rest.rsplit_once(':').ok_or_else(form)?;
                (host, guest, last.parse()?)
            }
        };
        if !(1..=MAX_HOST_BYTES).contains(&host.len()) || host.contains('\0') {
            return Err(BadMount::Host(brief(text)));
        }
        Ok(MountGrant { host: host.to_owned(), guest: GuestPath::parse(guest)?, mode })
    }

    /// Whether this grants the requested folder with at least the requested mode.
    pub fn covers(&self, guest: &GuestPath, mode: Mode) -> bool {
        self.guest == *guest && self.mode >= mode
    }

    /// This mount, limited to `mode`.
    pub fn at_most(&self, mode: Mode) -> MountGrant {
        MountGrant { mode: self.mode.min(mode), ..self.clone() }
    }
}

impl FromStr for MountGrant {
    type Err = BadMount;

    fn from_str(text: &str) -> Result<MountGrant, BadMount> {
        MountGrant::parse(text)
    }
}

impl fmt::Display for MountGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.host, self.guest, self.mode.name())
    }
}
