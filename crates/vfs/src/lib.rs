//! The file system that a cell sees: one tree from `/`, put together for each call from mounts, and the open files.
//!
//! It knows nothing of WASI's memory layout (that is [`skillcell_cell::wasi`]) and never touches the host's file system.
//! Read-only parts are shared [`Tree`]s, writable ones live in memory within [`Caps`].
//!
//! ```text
//! path bytes -> CellPath (text only) -> mount (names.rs) -> Backend (mount.rs) -> Object (file.rs) -> descriptor (table.rs)
//! ```
//!
//! A descriptor of a directory remembers its path, not its node: after a rename it names whatever is there now.
//! That gives no power, because everything in the tree can be reached from the root anyway.

mod allowance;
mod device;
mod errno;
mod file;
mod host;
mod input;
mod io;
mod mount;
mod names;
mod output;
mod path;
mod scratch;
mod stat;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod watch;

pub use self::allowance::Caps;
pub use self::errno::Errno;
pub use self::file::Access;
pub use self::host::HostFolder;
pub use self::input::{Input, InputStream};
pub use self::mount::Mount;
pub use self::output::{Follower, Output};
pub use self::scratch::WrittenFile;
pub use self::stat::{Entry, Kind, NewTimes, Stat, now_ns};
pub use self::table::ROOT;
pub use self::tree::{Content, Source, Tree};
pub use self::watch::Watch;

use self::file::{Descriptor, Object};
use self::mount::Backend;
use self::scratch::Scratch;
use self::table::Table;
use self::watch::Watching;
use skillcell_limits::LimitKind;

/// Takes one directory entry; `false` means that was the last one wanted.
pub type Sink<'a> = dyn FnMut(Entry<'_>) -> bool + 'a;

/// How to open a path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Open {
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub create: bool,
    pub exclusive: bool,
    pub truncate: bool,
    pub directory: bool,
}

/// Where a seek starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whence {
    Start,
    Current,
    End,
}

/// Why a write failed: for the cell to handle, or the end of the call.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Errno(#[from] Errno),
    #[error("output limit {0:?} reached")]
    Overrun(LimitKind),
}

/// One cell's file system; see the module.
pub struct Vfs {
    mounts: Vec<Mount>,
    scratch: Scratch,
    table: Table,
    stdin: Input,
    pub stdout: Output,
    pub stderr: Output,
    source_fault: Option<std::io::Error>,
    entropy_bytes: u64,
    watching: Option<Box<Watching>>,
    grantable_looks: u64,
}

impl Vfs {
    /// Puts a cell's tree together. Of two mounts at the same point the first is seen.
    pub fn new(mut mounts: Vec<Mount>, caps: Caps, stdout: Output, stderr: Output) -> Vfs {
        // Longest first, so that the first mount that covers a path is the innermost.
        mounts.sort_by(|one, other| other.point.len().cmp(&one.point.len()).then_with(|| one.point.cmp(&other.point)));
        let mut roots = 0;
        for mount in &mut mounts {
            if let Backend::Scratch(root) | Backend::Seeded(root, _) = &mut mount.backend {
                *root = roots;
                roots += 1;
            }
        }
        let mut scratch = Scratch::new(roots, caps);
        for mount in &mounts {
            if let Backend::Seeded(root, tree) = &mount.backend {
                scratch.seed_root(*root, tree);
            }
        }
        let (table, source_fault, watching) = (Table::new(), None, None);
        Vfs {
            mounts,
            scratch,
            table,
            stdin: Input::Empty,
            stdout,
            stderr,
            source_fault,
            entropy_bytes: 0,
            watching,
            grantable_looks: 0,
        }
    }

    /// Adds mounts to a cell that has already run. Only host folders are added this late.
    pub fn add_mounts(&mut self, more: Vec<Mount>) {
        self.mounts.extend(more);
        self.mounts
            .sort_by(|one, other| other.point.len().cmp(&one.point.len()).then_with(|| one.point.cmp(&other.point)));
    }

    /// Says what descriptor 0 reads, from its beginning; nothing unless it is set.
    pub fn set_stdin(&mut self, input: Input) {
        self.stdin = input;
        if let Ok(Descriptor { object: Object::Stdin, offset, .. }) = self.table.get_mut(0) {
            *offset = 0;
        }
    }

    /// The files that the cell made or changed in directories that began with files, by path below those. They are
    /// within the quotas of scratch, and so are their bytes.
    pub fn written_files(&self) -> Vec<WrittenFile> {
        let seeded = self.mounts.iter().filter_map(|mount| match &mount.backend {
            Backend::Seeded(root, tree) => Some((*root, tree)),
            _ => None,
        });
        seeded.flat_map(|(root, tree)| self.scratch.written_files(root, tree)).collect()
    }

    /// Takes back what only one call was given: host folders and their open files, the observer. Scratch files stay.
    pub fn end_call(&mut self) {
        self.mounts.retain(|mount| !matches!(mount.backend, Backend::Host(_)));
        self.table.close_host_files();
        self.watching = None;
    }

    /// Gets a file system that was kept ready for another call. Host folders are added as for the first one.
    pub fn begin_call(&mut self, caps: Caps, stdout: Output, stderr: Output) {
        self.scratch.allowance.begin_call(caps);
        (self.stdout, self.stderr) = (stdout, stderr);
        (self.source_fault, self.entropy_bytes) = (None, 0);
    }

    /// The soft limit that was hit last, if any.
    pub fn limits_hit(&self) -> Option<LimitKind> {
        self.scratch.allowance.hit
    }

    /// The host's error behind the last `Io` that a cell got from a [`Source`].
    pub fn source_fault(&self) -> Option<&std::io::Error> {
        self.source_fault.as_ref()
    }

    /// The number of descriptors open beyond the initial ones, and of scratch files.
    pub fn left_behind(&self) -> (u32, u32) {
        (self.scratch.allowance.open_files, self.scratch.allowance.scratch_files)
    }

    /// Random bytes read from devices so far.
    pub fn entropy_bytes(&self) -> u64 {
        self.entropy_bytes
    }

    /// How often something was looked for where a call's files may be: not among those that are the same for every call.
    pub fn grantable_looks(&self) -> u64 {
        self.grantable_looks
    }

    /// Bytes and files charged to scratch now.
    pub fn scratch_usage(&self) -> (u64, u32) {
        (self.scratch.allowance.scratch_bytes, self.scratch.allowance.scratch_files)
    }

    fn add_descriptor(&mut self, object: Object, access: Access) -> u32 {
        self.table.add(Descriptor { object, offset: 0, access, charged: true, listing: None })
    }

    pub fn close(&mut self, fd: u32) -> Result<(), Errno> {
        let closed = self.table.take(fd)?;
        self.release_descriptor(closed);
        Ok(())
    }

    fn release_descriptor(&mut self, descriptor: Descriptor) {
        if descriptor.charged {
            self.scratch.allowance.open_files -= 1;
        }
        if let Object::Scratch { node, .. } = descriptor.object {
            self.scratch.close(node);
        }
    }

    /// Moves `from` to the number `to`, closing what was there.
    pub fn renumber(&mut self, from: u32, to: u32) -> Result<(), Errno> {
        if from == to {
            return self.table.get(from).map(drop);
        }
        if from == ROOT || to == ROOT {
            return Err(Errno::Notsup);
        }
        let closed = self.table.move_to(from, to)?;
        self.release_descriptor(closed);
        Ok(())
    }

    /// What the descriptor was opened for.
    pub fn access(&self, fd: u32) -> Result<Access, Errno> {
        Ok(self.table.get(fd)?.access)
    }

    pub fn set_append(&mut self, fd: u32, append: bool) -> Result<(), Errno> {
        self.table.get_mut(fd)?.access.append = append;
        Ok(())
    }

    /// Whether this descriptor is the preopened root directory.
    pub fn is_preopen(&self, fd: u32) -> bool {
        fd == ROOT && matches!(self.table.get(fd), Ok(Descriptor { charged: false, .. }))
    }

    /// Whether somebody types what this descriptor reads.
    pub fn is_terminal(&self, fd: u32) -> bool {
        matches!(self.table.get(fd), Ok(Descriptor { object: Object::Stdin, .. })) && self.stdin.is_terminal()
    }

    pub fn kind(&self, fd: u32) -> Result<Kind, Errno> {
        match &self.table.get(fd)?.object {
            Object::Directory(_) => Ok(Kind::Directory),
            object => Ok(object.stat(&self.scratch).kind),
        }
    }

    pub fn stat(&self, fd: u32) -> Result<Stat, Errno> {
        match &self.table.get(fd)?.object {
            Object::Directory(path) => self.stat_clean(path),
            object => Ok(object.stat(&self.scratch)),
        }
    }
}
