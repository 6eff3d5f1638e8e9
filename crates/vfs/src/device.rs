//! The few devices under `/dev`. They hold no state and none of them reaches a real device; three are other names for the standard
//! streams.

use super::Open;
use super::errno::Errno;
use super::file::Object;
use super::stat::{Entry, Kind, Stat, Times};

/// A device file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    Null,
    Zero,
    Random,
    Urandom,
    Stdin,
    Stdout,
    Stderr,
}

const ALL: [(&str, Device); 7] = [
    ("null", Device::Null),
    ("random", Device::Random),
    ("stderr", Device::Stderr),
    ("stdin", Device::Stdin),
    ("stdout", Device::Stdout),
    ("urandom", Device::Urandom),
    ("zero", Device::Zero),
];

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

    /// What opening it gives. A stream that is read can't be written to, nor the other way round.
    pub fn open(self, how: Open, dev: u64) -> Result<Object, Errno> {
        match self {
            Device::Stdin if how.write => Err(Errno::Acces),
            Device::Stdout | Device::Stderr if how.read => Err(Errno::Acces),
            Device::Stdin => Ok(Object::Stdin),
            Device::Stdout => Ok(Object::Stdout),
            Device::Stderr => Ok(Object::Stderr),
            device => Ok(Object::Device { device, dev }),
        }
    }

    pub fn read(self, buf: &mut [u8]) -> Result<usize, Errno> {
        match self {
            // Opening them gives the streams themselves.
            Device::Stdin | Device::Stdout | Device::Stderr => return Err(Errno::Badf),
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
