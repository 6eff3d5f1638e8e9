//! The few devices under `/dev`. They hold no state and none of them reaches a real device.

use super::errno::Errno;
use super::stat::{Entry, Kind, Stat, Times};

/// A device file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    Null,
    Zero,
    Random,
    Urandom,
}

const ALL: [(&str, Device); 4] =
    [("null", Device::Null), ("random", Device::Random), ("urandom", Device::Urandom), ("zero", Device::Zero)];

impl Device {
    pub fn find(path: &str) -> Result<Device, Errno> {
        ALL.iter().find(|(name, _)| *name == path).map(|(_, device)| *device).ok_or_else(|| refuse_missing(path))
    }

    pub fn stat(self, dev: u64) -> Stat {
        Stat { dev, ino: self.ino(), kind: Kind::Device, nlink: 1, size: 0, times: Times::FIXED }
    }

    fn ino(self) -> u64 {
        self as u64 + 2
    }

    pub fn gives_entropy(self) -> bool {
        matches!(self, Device::Random | Device::Urandom)
    }

    pub fn read(self, buf: &mut [u8]) -> Result<usize, Errno> {
        match self {
            Device::Null => return Ok(0),
            Device::Zero => buf.fill(0),
            Device::Random | Device::Urandom => getrandom::fill(buf).map_err(|_| Errno::Io)?,
        }
        Ok(buf.len())
    }
}

/// The directory that holds them.
pub fn directory_stat(dev: u64) -> Stat {
    Stat { dev, ino: 1, kind: Kind::Directory, nlink: 1, size: 0, times: Times::FIXED }
}

pub fn read_dir(cookie: u64, sink: &mut super::Sink<'_>) -> bool {
    let start = usize::try_from(cookie).map_or(ALL.len(), |start| start.min(ALL.len()));
    ALL[start..]
        .iter()
        .zip(cookie + 1..)
        .all(|((name, device), next)| sink(Entry { name, ino: device.ino(), kind: Kind::Device, next }))
}

fn refuse_missing(path: &str) -> Errno {
    match path.split_once('/') {
        Some((first, _)) if ALL.iter().any(|(name, _)| *name == first) => Errno::Notdir,
        _ => Errno::Noent,
    }
}
