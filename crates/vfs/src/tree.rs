//! A read-only tree of files, made once on the host and shared by any number of cells.
//!
//! It is not a place for a cell to write: every change is refused with `Rofs`, and there are no links in it.
//!
//! Invariant: `nodes[0]` is the root directory, and a directory's entries are sorted by name.

use std::io;
use std::sync::Arc;

use super::errno::Errno;
use super::path::{CellPath, path_names, split_parent};
use super::stat::{Entry, Kind, Stat, Times};

/// Bytes that are fetched when a cell reads them, for example from a memory-mapped pack that is verified on first use.
/// An error reaches the cell as `Io` and the host through [`Vfs::source_fault`](super::Vfs::source_fault).
pub trait Source: Send + Sync {
    fn byte_len(&self) -> u64;

    /// Reads at most `buf.len()` bytes from `offset`; 0 at the end.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// What a file of a [`Tree`] holds.
#[derive(Clone)]
pub enum Content {
    Bytes(Arc<[u8]>),
    Lazy(Arc<dyn Source>),
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Lazy(source) => source.byte_len(),
        }
    }

    pub(super) fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Content::Bytes(bytes) => {
                let start = usize::try_from(offset).map_or(bytes.len(), |start| start.min(bytes.len()));
                let count = buf.len().min(bytes.len() - start);
                buf[..count].copy_from_slice(&bytes[start..start + count]);
                Ok(count)
            }
            Content::Lazy(source) => source.read_at(buf, offset).map(|count| count.min(buf.len())),
        }
    }
}

/// Why something can't be put into a tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("`{path}` is not a usable path")]
    BadPath { path: String },
    #[error("`{path}` would be both a file and a directory")]
    Clash { path: String },
}

enum Node {
    Directory(Vec<(Box<str>, u32)>),
    File(Content),
}

/// An immutable tree; see the module.
pub struct Tree {
    nodes: Vec<Node>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { nodes: vec![Node::Directory(Vec::new())] }
    }
}

impl Tree {
    pub(super) const ROOT: u32 = 0;

    pub fn new() -> Tree {
        Tree::default()
    }

    /// Adds a file and the directories above it. A file that is already there is replaced.
    pub fn insert(&mut self, path: &str, content: Content) -> Result<(), TreeError> {
        let clean = clean_path(path)?;
        let (above, name) = split_parent(&clean);
        let parent = self.make_directories(above, path)?;
        match self.find_child(parent, name) {
            Ok(id) if self.is_directory(id) => return Err(TreeError::Clash { path: path.into() }),
            Ok(id) => self.nodes[id as usize] = Node::File(content),
            Err(_) => drop(self.add_node(parent, name, Node::File(content))),
        }
        Ok(())
    }

    /// Adds a directory, perhaps an empty one.
    #[cfg(test)]
    pub fn insert_directory(&mut self, path: &str) -> Result<(), TreeError> {
        let clean = clean_path(path)?;
        self.make_directories(&clean, path).map(drop)
    }

    fn make_directories(&mut self, clean: &str, path: &str) -> Result<u32, TreeError> {
        let mut at = 0;
        for name in path_names(clean) {
            at = match self.find_child(at, name) {
                Ok(id) => id,
                Err(Errno::Noent) => self.add_node(at, name, Node::Directory(Vec::new())),
                Err(_) => return Err(TreeError::Clash { path: path.into() }),
            };
        }
        if self.is_directory(at) { Ok(at) } else { Err(TreeError::Clash { path: path.into() }) }
    }

    fn add_node(&mut self, parent: u32, name: &str, node: Node) -> u32 {
        let id = u32::try_from(self.nodes.len()).expect("a tree has fewer than 2^32 files");
        self.nodes.push(node);
        if let Node::Directory(entries) = &mut self.nodes[parent as usize] {
            let place = entries.partition_point(|(other, _)| **other < *name);
            entries.insert(place, (name.into(), id));
        }
        id
    }

    /// What a directory holds, by name; nothing if it is a file.
    pub(super) fn children(&self, id: u32) -> &[(Box<str>, u32)] {
        match &self.nodes[id as usize] {
            Node::Directory(entries) => entries,
            Node::File(_) => &[],
        }
    }

    /// What a file holds; nothing if it is a directory.
    pub(super) fn content(&self, id: u32) -> Option<&Content> {
        match &self.nodes[id as usize] {
            Node::Directory(_) => None,
            Node::File(content) => Some(content),
        }
    }

    fn is_directory(&self, id: u32) -> bool {
        matches!(self.nodes[id as usize], Node::Directory(_))
    }

    fn find_child(&self, id: u32, name: &str) -> Result<u32, Errno> {
        let Node::Directory(entries) = &self.nodes[id as usize] else { return Err(Errno::Notdir) };
        let place = entries.binary_search_by(|(other, _)| (**other).cmp(name)).map_err(|_| Errno::Noent)?;
        Ok(entries[place].1)
    }

    /// The node that a clean path leads to.
    pub(super) fn find(&self, path: &str) -> Result<u32, Errno> {
        path_names(path).try_fold(0, |at, name| self.find_child(at, name))
    }

    pub(super) fn stat(&self, id: u32, dev: u64) -> Stat {
        let (kind, size) = match &self.nodes[id as usize] {
            Node::Directory(_) => (Kind::Directory, 0),
            Node::File(content) => (Kind::File, content.len()),
        };
        Stat { dev, ino: u64::from(id) + 1, kind, nlink: 1, size, times: Times::FIXED }
    }

    pub(super) fn read_at(&self, id: u32, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.nodes[id as usize] {
            Node::File(content) => content.read_at(buf, offset),
            Node::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Passes the entries from `cookie` on to `sink`, until it returns `false`.
    pub(super) fn read_dir(&self, path: &str, cookie: u64, sink: &mut super::Sink<'_>) -> Result<bool, Errno> {
        let Node::Directory(entries) = &self.nodes[self.find(path)? as usize] else { return Err(Errno::Notdir) };
        let start = usize::try_from(cookie).map_or(entries.len(), |start| start.min(entries.len()));
        Ok(entries[start..].iter().zip(cookie + 1..).all(|((name, id), next)| {
            let kind = if self.is_directory(*id) { Kind::Directory } else { Kind::File };
            sink(Entry { name, ino: u64::from(*id) + 1, kind, next })
        }))
    }

    /// The error for creating something at `path`: the one that POSIX reports first, otherwise `Rofs`.
    pub(super) fn refuse_new(&self, path: &str) -> Errno {
        match self.find(path) {
            Ok(_) => Errno::Exist,
            Err(_) => match self.find(split_parent(path).0) {
                Ok(id) if !self.is_directory(id) => Errno::Notdir,
                Ok(_) => Errno::Rofs,
                Err(errno) => errno,
            },
        }
    }

    /// The error for changing what is at `path`.
    pub(super) fn refuse_change(&self, path: &str) -> Errno {
        self.find(path).err().unwrap_or(Errno::Rofs)
    }
}

fn clean_path(path: &str) -> Result<String, TreeError> {
    let clean = CellPath::parse("", path.as_bytes()).map_err(|_| TreeError::BadPath { path: path.into() })?;
    if clean.text.is_empty() || path.split('/').any(|name| name == "..") {
        return Err(TreeError::BadPath { path: path.into() });
    }
    Ok(clean.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Content {
        Content::Bytes(text.as_bytes().into())
    }

    #[test]
    fn a_later_file_replaces_an_earlier_one_but_never_a_directory() {
        let mut tree = Tree::new();
        tree.insert("a/b", bytes("one")).unwrap();
        tree.insert("a/b", bytes("three")).unwrap();
        assert_eq!(tree.stat(tree.find("a/b").unwrap(), 1).size, 5);
        assert!(matches!(tree.insert("a", bytes("")), Err(TreeError::Clash { .. })));
        assert!(matches!(tree.insert("a/b/c", bytes("")), Err(TreeError::Clash { .. })));
        assert!(matches!(tree.insert_directory("a/b"), Err(TreeError::Clash { .. })));
    }

    #[test]
    fn a_path_that_climbs_is_not_inserted() {
        for path in ["../x", "a/../../x", "", "/", "a\0"] {
            assert!(matches!(Tree::new().insert(path, bytes("")), Err(TreeError::BadPath { .. })), "{path:?}");
        }
    }

    #[test]
    fn reading_past_the_end_gives_nothing() {
        let mut tree = Tree::new();
        tree.insert("f", bytes("hello")).unwrap();
        let id = tree.find("f").unwrap();
        let mut buf = [0; 8];
        assert_eq!(tree.read_at(id, &mut buf, 3).unwrap(), 2);
        assert_eq!(tree.read_at(id, &mut buf, u64::MAX).unwrap(), 0);
    }
}
