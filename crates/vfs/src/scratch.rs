//! The writable part of a cell's tree: in memory, within quotas, gone with the cell.
//!
//! One `Scratch` serves all writable mounts of a cell, each with its own root, so that they share one quota.
//! It holds no paths and no descriptors: the [`Vfs`](super::Vfs) brings clean paths, and says when a file is closed.
//!
//! A node lives while it has a name or is open; its bytes and its place in the count are charged as long. Nothing is
//! allocated until the first file or directory is made: until then each root is an empty directory in name only.

mod blob;
mod data;
mod directory;
mod seed;

use self::blob::Blob;
use self::directory::Directory;
pub use self::seed::WrittenFile;
use super::allowance::{Allowance, Caps};
use super::errno::Errno;
use super::path::{path_names, relative_to, split_parent};
use super::stat::{Entry, Kind, Stat, Times};
use super::tree::Content;
use super::{Open, Sink};

static EMPTY: Directory = Directory::new();

struct Node {
    ino: u64,
    /// It has a name in some directory. There are no hard links, so never more than one.
    named: bool,
    open_count: u32,
    /// It counts against the quotas; what a root began with does not, until it is written to.
    charged: bool,
    times: Times,
    body: Body,
}

enum Body {
    File(Blob),
    /// A file as the root began with it: the first write gives it its own bytes.
    Shared(Content),
    Directory(Directory),
}

/// See the module. Invariant: ids below `roots` are root directories, and nobody's children.
pub struct Scratch {
    nodes: Vec<Option<Node>>,
    free: Vec<u32>,
    roots: u32,
    next_ino: u64,
    /// Kept here because nearly every charge is made here.
    pub allowance: Allowance,
}

impl Scratch {
    pub fn new(roots: u32, caps: Caps) -> Scratch {
        Scratch { nodes: Vec::new(), free: Vec::new(), roots, next_ino: 1, allowance: Allowance::new(caps) }
    }

    /// Allocates the roots on first use; every operation that adds a name calls this.
    fn create_roots(&mut self) {
        if self.nodes.is_empty() {
            for _ in 0..self.roots {
                let node = self.new_node(Body::Directory(Directory::new()));
                self.nodes.push(Some(node));
            }
        }
    }

    fn new_node(&mut self, body: Body) -> Node {
        let ino = self.next_ino;
        self.next_ino += 1;
        Node { ino, named: true, open_count: 0, charged: true, times: Times::now(), body }
    }

    fn get(&self, id: u32) -> Option<&Node> {
        self.nodes.get(id as usize)?.as_ref()
    }

    fn get_directory(&self, id: u32) -> Result<&Directory, Errno> {
        match self.get(id).map(|node| &node.body) {
            Some(Body::Directory(directory)) => Ok(directory),
            Some(Body::File(_) | Body::Shared(_)) => Err(Errno::Notdir),
            None => Ok(&EMPTY),
        }
    }

    pub fn find(&self, root: u32, path: &str) -> Result<u32, Errno> {
        path_names(path).try_fold(root, |at, name| self.get_directory(at)?.get(name).ok_or(Errno::Noent))
    }

    pub fn stat(&self, id: u32, dev: u64) -> Stat {
        let Some(node) = self.get(id) else {
            // A root that was not created yet: the numbers that `create_roots` will give it.
            let (ino, times) = (u64::from(id) + 1, Times::FIXED);
            return Stat { dev, ino, kind: Kind::Directory, nlink: 1, size: 0, times };
        };
        let size = match &node.body {
            Body::File(blob) => blob.len(),
            Body::Shared(content) => content.len(),
            Body::Directory(_) => 0,
        };
        Stat { dev, ino: node.ino, kind: node.kind(), nlink: u64::from(node.named), size, times: node.times }
    }

    pub fn read_dir(&self, id: u32, cookie: u64, sink: &mut Sink<'_>) -> Result<bool, Errno> {
        Ok(self.get_directory(id)?.entries_from(cookie).all(|(place, name, id)| {
            let (ino, kind) = self.get(id).map_or((0, Kind::File), |node| (node.ino, node.kind()));
            sink(Entry { name, ino, kind, next: place + 1 })
        }))
    }

    /// Opens or makes a file; directories are opened by path, above here.
    pub fn open(&mut self, root: u32, path: &str, how: Open) -> Result<u32, Errno> {
        let id = match self.find(root, path) {
            Ok(_) if how.create && how.exclusive => return Err(Errno::Exist),
            Ok(id) => id,
            Err(Errno::Noent) if how.create => self.add_node(root, path, Body::File(Blob::default()))?,
            Err(errno) => return Err(errno),
        };
        if how.truncate {
            self.set_size(id, 0)?;
        }
        if let Some(node) = self.get_mut(id) {
            node.open_count += 1;
        }
        Ok(id)
    }

    pub fn close(&mut self, id: u32) {
        if let Some(node) = self.get_mut(id) {
            node.open_count -= 1;
        }
        self.drop_if_gone(id);
    }

    pub fn make_directory(&mut self, root: u32, path: &str) -> Result<(), Errno> {
        match self.find(root, path) {
            Ok(_) => Err(Errno::Exist),
            Err(Errno::Noent) => self.add_node(root, path, Body::Directory(Directory::new())).map(drop),
            Err(errno) => Err(errno),
        }
    }

    pub fn unlink(&mut self, root: u32, path: &str) -> Result<(), Errno> {
        let id = self.find(root, path)?;
        if self.get_directory(id).is_ok() {
            return Err(Errno::Isdir);
        }
        self.remove_entry(root, path, id)
    }

    pub fn remove_directory(&mut self, root: u32, path: &str) -> Result<(), Errno> {
        let id = self.find(root, path)?;
        if !self.get_directory(id)?.is_empty() {
            return Err(Errno::Notempty);
        }
        self.remove_entry(root, path, id)
    }

    pub fn rename(&mut self, root: u32, from: &str, to: &str) -> Result<(), Errno> {
        let moved = self.find(root, from)?;
        let is_directory = self.get_directory(moved).is_ok();
        match self.find(root, to) {
            Ok(id) if id == moved => return Ok(()),
            Ok(id) => self.check_replace(is_directory, id)?,
            Err(Errno::Noent) => {}
            Err(errno) => return Err(errno),
        }
        // A directory can't be moved into itself.
        if is_directory && relative_to(from, to).is_some() {
            return Err(Errno::Inval);
        }
        let (parent, name) = self.find_parent(root, to)?;
        let replaced = self.get_directory(parent)?.get(name);
        self.link_name(parent, name, moved);
        let (old_parent, old_name) = self.find_parent(root, from)?;
        self.unlink_name(old_parent, old_name);
        if let Some(id) = replaced {
            self.drop_name(id);
        }
        Ok(())
    }

    fn check_replace(&self, is_directory: bool, target: u32) -> Result<(), Errno> {
        match self.get_directory(target) {
            Ok(_) if !is_directory => Err(Errno::Isdir),
            Ok(directory) if !directory.is_empty() => Err(Errno::Notempty),
            Err(_) if is_directory => Err(Errno::Notdir),
            _ => Ok(()),
        }
    }

    fn get_mut(&mut self, id: u32) -> Option<&mut Node> {
        self.nodes.get_mut(id as usize)?.as_mut()
    }

    /// The directory that holds the last name of `path`, and that name.
    fn find_parent<'p>(&self, root: u32, path: &'p str) -> Result<(u32, &'p str), Errno> {
        let (above, name) = split_parent(path);
        let parent = self.find(root, above)?;
        self.get_directory(parent)?;
        Ok((parent, name))
    }

    fn add_node(&mut self, root: u32, path: &str, body: Body) -> Result<u32, Errno> {
        let (parent, name) = self.find_parent(root, path)?;
        self.allowance.charge_file()?;
        self.create_roots();
        let node = self.new_node(body);
        let id = match self.free.pop() {
            Some(id) => id,
            None => {
                self.nodes.push(None);
                u32::try_from(self.nodes.len() - 1).expect("the file count is capped by a u32")
            }
        };
        self.nodes[id as usize] = Some(node);
        self.link_name(parent, name, id);
        Ok(id)
    }

    fn link_name(&mut self, parent: u32, name: &str, id: u32) {
        if let Some(Node { body: Body::Directory(directory), times, .. }) = self.get_mut(parent) {
            directory.set(name, id);
            *times = Times { accessed_ns: times.accessed_ns, ..Times::now() };
        }
    }

    fn unlink_name(&mut self, parent: u32, name: &str) {
        if let Some(Node { body: Body::Directory(directory), times, .. }) = self.get_mut(parent) {
            directory.remove(name);
            *times = Times { accessed_ns: times.accessed_ns, ..Times::now() };
        }
    }

    fn remove_entry(&mut self, root: u32, path: &str, id: u32) -> Result<(), Errno> {
        let (parent, name) = self.find_parent(root, path)?;
        self.unlink_name(parent, name);
        self.drop_name(id);
        Ok(())
    }

    /// Marks a node as unnamed, and frees it if it is not open.
    fn drop_name(&mut self, id: u32) {
        if let Some(node) = self.get_mut(id) {
            node.named = false;
        }
        self.drop_if_gone(id);
    }

    fn drop_if_gone(&mut self, id: u32) {
        let Some(slot) = self.nodes.get_mut(id as usize) else { return };
        let Some(node) = slot.take_if(|node| !node.named && node.open_count == 0) else { return };
        self.free.push(id);
        if !node.charged {
            return;
        }
        self.allowance.scratch_files -= 1;
        if let Body::File(blob) = node.body {
            self.allowance.scratch_bytes -= blob.len();
        }
    }
}

impl Node {
    fn kind(&self) -> Kind {
        match self.body {
            Body::File(_) | Body::Shared(_) => Kind::File,
            Body::Directory(_) => Kind::Directory,
        }
    }
}
