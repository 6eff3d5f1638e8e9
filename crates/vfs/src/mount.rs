//! Which part of a cell's tree is served by what: mount points, and one enum of backends with the operations on names.
//!
//! A new backend is a variant of [`Backend`] (and of [`Object`] for its open files) and one file with its operations. Paths that arrive here
//! are clean and relative to the mount point; a mount point itself is never removed, renamed or made.

use std::sync::Arc;

use super::device::{self, Device};
use super::errno::Errno;
use super::file::Object;
use super::host::HostFolder;
use super::path::CellPath;
use super::scratch::Scratch;
use super::stat::{NewTimes, Stat};
use super::tree::Tree;
use super::{Open, Sink};

/// A backend bound to a place in a cell's tree. Cheap to clone.
#[derive(Clone)]
pub struct Mount {
    pub(super) point: Arc<str>,
    pub(super) backend: Backend,
}

/// What serves a mount.
#[derive(Clone)]
pub(super) enum Backend {
    Tree(Arc<Tree>),
    /// A root of the cell's [`Scratch`]; numbered when the mounts of a cell are put together.
    Scratch(u32),
    /// The same, with files to begin with.
    Seeded(u32, Arc<Tree>),
    Devices,
    Host(HostFolder),
}

impl Mount {
    /// Shows a read-only tree. `None` if `point` is not a usable path.
    pub fn tree(point: &str, tree: Arc<Tree>) -> Option<Mount> {
        Mount::new(point, Backend::Tree(tree))
    }

    /// Shows an empty writable directory, new in every cell.
    pub fn scratch(point: &str) -> Option<Mount> {
        Mount::new(point, Backend::Scratch(0))
    }

    /// Shows a writable directory that begins with a tree's files, the same in every cell; see
    /// [`Vfs::written_files`](super::Vfs::written_files).
    pub fn seeded(point: &str, tree: Arc<Tree>) -> Option<Mount> {
        Mount::new(point, Backend::Seeded(0, tree))
    }

    /// Shows `null`, `zero`, `random` and `urandom`.
    pub fn devices(point: &str) -> Option<Mount> {
        Mount::new(point, Backend::Devices)
    }

    /// Shows a folder of the host.
    pub fn host(point: &str, folder: HostFolder) -> Option<Mount> {
        Mount::new(point, Backend::Host(folder))
    }

    fn new(point: &str, backend: Backend) -> Option<Mount> {
        let path = CellPath::parse("", point.as_bytes()).ok()?;
        Some(Mount { point: path.text.into(), backend })
    }
}

impl Backend {
    /// Whether every cell that has the mount sees the same there.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Backend::Tree(_) | Backend::Devices)
    }

    pub fn stat(&self, scratch: &Scratch, path: &str, dev: u64) -> Result<Stat, Errno> {
        match self {
            Backend::Tree(tree) => Ok(tree.stat(tree.find(path)?, dev)),
            Backend::Scratch(root) | Backend::Seeded(root, _) => Ok(scratch.stat(scratch.find(*root, path)?, dev)),
            Backend::Devices if path.is_empty() => Ok(device::directory_stat(dev)),
            Backend::Devices => Ok(Device::find(path)?.stat(dev)),
            Backend::Host(folder) => folder.stat(path, dev),
        }
    }

    /// Opens a file, making it first if that is asked for. Never called for a directory.
    /// `whole` is the path in the cell's tree, `path` the rest of it below the mount point.
    pub fn open(&self, scratch: &mut Scratch, whole: &str, path: &str, how: Open, dev: u64) -> Result<Object, Errno> {
        match self {
            Backend::Tree(tree) => match tree.find(path) {
                Ok(_) if how.create && how.exclusive => Err(Errno::Exist),
                Ok(_) if how.write || how.truncate => Err(Errno::Rofs),
                Ok(node) => Ok(Object::Tree { tree: tree.clone(), node, dev }),
                Err(Errno::Noent) if how.create => Err(tree.refuse_new(path)),
                Err(errno) => Err(errno),
            },
            Backend::Scratch(root) | Backend::Seeded(root, _) => {
                Ok(Object::Scratch { node: scratch.open(*root, path, how)?, dev })
            }
            Backend::Devices => match Device::find(path) {
                Ok(_) if how.create && how.exclusive => Err(Errno::Exist),
                Ok(device) => device.open(how, dev),
                Err(Errno::Noent) if how.create => Err(refuse_new_device(path)),
                Err(errno) => Err(errno),
            },
            Backend::Host(folder) => Ok(Object::Host { file: folder.open_file(path, how)?, path: whole.into(), dev }),
        }
    }

    /// Gives entries from `cookie` on, of a folder of the host those of `names`; `Ok(false)` when `sink` had enough.
    pub fn read_dir(
        &self,
        scratch: &Scratch,
        path: &str,
        names: &[Box<str>],
        cookie: u64,
        sink: &mut Sink<'_>,
    ) -> Result<bool, Errno> {
        match self {
            Backend::Tree(tree) => tree.read_dir(path, cookie, sink),
            Backend::Scratch(root) | Backend::Seeded(root, _) => {
                scratch.read_dir(scratch.find(*root, path)?, cookie, sink)
            }
            Backend::Devices if path.is_empty() => Ok(device::read_dir(cookie, sink)),
            Backend::Devices => Err(Device::find(path).err().unwrap_or(Errno::Notdir)),
            Backend::Host(folder) => Ok(folder.read_dir(path, names, cookie, sink)),
        }
    }

    pub fn make_directory(&self, scratch: &mut Scratch, path: &str) -> Result<(), Errno> {
        match self {
            Backend::Tree(tree) => Err(tree.refuse_new(path)),
            Backend::Scratch(root) | Backend::Seeded(root, _) => scratch.make_directory(*root, path),
            Backend::Devices => Err(refuse_new_device(path)),
            Backend::Host(folder) => folder.make_directory(path),
        }
    }

    pub fn unlink(&self, scratch: &mut Scratch, path: &str) -> Result<(), Errno> {
        match self {
            Backend::Scratch(root) | Backend::Seeded(root, _) => scratch.unlink(*root, path),
            Backend::Host(folder) => folder.unlink(path),
            _ => Err(self.refuse_change(path)),
        }
    }

    pub fn remove_directory(&self, scratch: &mut Scratch, path: &str) -> Result<(), Errno> {
        match self {
            Backend::Scratch(root) | Backend::Seeded(root, _) => scratch.remove_directory(*root, path),
            Backend::Host(folder) => folder.remove_directory(path),
            _ => Err(self.refuse_change(path)),
        }
    }

    /// Both paths are on this mount.
    pub fn rename(&self, scratch: &mut Scratch, from: &str, to: &str) -> Result<(), Errno> {
        match self {
            Backend::Scratch(root) | Backend::Seeded(root, _) => scratch.rename(*root, from, to),
            Backend::Host(folder) => folder.rename(from, to),
            _ => Err(self.refuse_change(from)),
        }
    }

    pub fn set_times(&self, scratch: &mut Scratch, path: &str, times: NewTimes) -> Result<(), Errno> {
        match self {
            Backend::Scratch(root) | Backend::Seeded(root, _) => {
                let id = scratch.find(*root, path)?;
                scratch.set_times(id, times);
                Ok(())
            }
            Backend::Host(folder) => folder.set_times(path, times),
            _ => Err(self.refuse_change(path)),
        }
    }

    fn refuse_change(&self, path: &str) -> Errno {
        match self {
            Backend::Tree(tree) => tree.refuse_change(path),
            _ if path.is_empty() => Errno::Rofs,
            _ => Device::find(path).err().unwrap_or(Errno::Rofs),
        }
    }
}

fn refuse_new_device(path: &str) -> Errno {
    match Device::find(path) {
        Ok(_) => Errno::Exist,
        Err(Errno::Noent) if !path.contains('/') => Errno::Rofs,
        Err(errno) => errno,
    }
}
