//! Open files: what a descriptor refers to, and reading and writing through it. Names and mounts are no longer involved,
//! so a file stays usable after it was unlinked or renamed.

use std::io;
use std::sync::Arc;

use super::device::Device;
use super::errno::Errno;
use super::host::HostFile;
use super::scratch::Scratch;
use super::stat::{Kind, NewTimes, Stat, Times};
use super::tree::Tree;

/// What a descriptor refers to.
pub(super) enum Object {
    Stdin,
    Stdout,
    Stderr,
    /// A directory by its clean path: there is nothing to read from it but names, and those are looked up afresh.
    Directory(Box<str>),
    Tree {
        tree: Arc<Tree>,
        node: u32,
        dev: u64,
    },
    Scratch {
        node: u32,
        dev: u64,
    },
    Device {
        device: Device,
        dev: u64,
    },
    Host {
        file: HostFile,
        /// Its normalized path when it was opened, for the observer.
        path: Box<str>,
        dev: u64,
    },
    /// It was a host file, open when a call of a session ended. The number stays taken: a stale one must not name another file.
    Closed,
}

/// A slot of the descriptor table.
pub(super) struct Descriptor {
    pub object: Object,
    pub offset: u64,
    pub access: Access,
    /// It counts against the cap on open files; the initial descriptors don't.
    pub charged: bool,
    /// The names in a host folder when the cell began to list it. A cookie is an index into them, so removing files
    /// meanwhile doesn't shift the others.
    pub listing: Option<Box<[Box<str>]>>,
}

/// What a descriptor was opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub read: bool,
    pub write: bool,
    pub append: bool,
}

impl Object {
    pub fn is_stream(&self) -> bool {
        matches!(self, Object::Stdin | Object::Stdout | Object::Stderr)
    }

    /// `fault` receives the host's own error when the answer is `Io`.
    pub fn read_at(
        &self,
        scratch: &Scratch,
        fault: &mut Option<io::Error>,
        buf: &mut [u8],
        offset: u64,
    ) -> Result<usize, Errno> {
        match self {
            // `Vfs` reads it itself.
            Object::Stdin => Ok(0),
            Object::Stdout | Object::Stderr | Object::Closed => Err(Errno::Badf),
            Object::Directory(_) => Err(Errno::Isdir),
            Object::Tree { tree, node, .. } => tree.read_at(*node, buf, offset).map_err(|error| {
                *fault = Some(error);
                Errno::Io
            }),
            Object::Scratch { node, .. } => scratch.read_at(*node, buf, offset),
            Object::Device { device, .. } => device.read(buf),
            Object::Host { file, .. } => file.read_at(buf, offset),
        }
    }

    /// Writes to anything but the standard streams, which have no offset.
    pub fn write_at(&self, scratch: &mut Scratch, data: &[u8], offset: u64) -> Result<usize, Errno> {
        match self {
            Object::Scratch { node, .. } => scratch.write_at(*node, data, offset),
            Object::Device { .. } => Ok(data.len()),
            Object::Host { file, .. } => file.write_at(data, offset),
            Object::Directory(_) => Err(Errno::Isdir),
            Object::Tree { .. } => Err(Errno::Rofs),
            Object::Stdin | Object::Stdout | Object::Stderr => Err(Errno::Spipe),
            Object::Closed => Err(Errno::Badf),
        }
    }

    /// Not for a directory, which is looked up by its path.
    pub fn stat(&self, scratch: &Scratch) -> Stat {
        let stream = |ino| Stat { dev: 0, ino, kind: Kind::Stream, nlink: 1, size: 0, times: Times::FIXED };
        match self {
            Object::Stdin | Object::Directory(_) | Object::Closed => stream(1),
            Object::Stdout => stream(2),
            Object::Stderr => stream(3),
            Object::Tree { tree, node, dev } => tree.stat(*node, *dev),
            Object::Scratch { node, dev } => scratch.stat(*node, *dev),
            Object::Device { device, dev } => device.stat(*dev),
            Object::Host { file, dev, .. } => file.stat(*dev),
        }
    }

    pub fn set_size(&self, scratch: &mut Scratch, size: u64) -> Result<(), Errno> {
        match self {
            Object::Scratch { node, .. } => scratch.set_size(*node, size),
            Object::Host { file, .. } => file.set_size(size),
            Object::Tree { .. } => Err(Errno::Rofs),
            Object::Directory(_) => Err(Errno::Isdir),
            _ => Err(Errno::Inval),
        }
    }

    pub fn set_times(&self, scratch: &mut Scratch, times: NewTimes) -> Result<(), Errno> {
        match self {
            Object::Scratch { node, .. } => {
                scratch.set_times(*node, times);
                Ok(())
            }
            Object::Host { file, .. } => file.set_times(times),
            Object::Tree { .. } | Object::Device { .. } => Err(Errno::Rofs),
            _ => Err(Errno::Inval),
        }
    }
}
