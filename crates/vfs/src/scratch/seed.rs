//! Scratch directories that begin with files: what a [`Tree`] has, to be read, changed and removed like the cell's own.
//!
//! A file that nothing was written to shares the tree's bytes and costs no quota; the first write copies it, and the copy is
//! charged. The tree itself never changes.

use std::sync::Arc;

use super::{Blob, Body, Directory, Node, Scratch};
use crate::errno::Errno;
use crate::path::path_names;
use crate::stat::Times;
use crate::tree::{Content, Tree};

/// A file that a cell made or changed in a directory that began with files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// Below the directory: `out/report.json`, never with `.` or `..`.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl Scratch {
    /// Fills a root with a tree's files. Their times are the tree's, so that what Python remembers of a directory from
    /// when an image was made still holds.
    pub fn seed_root(&mut self, root: u32, tree: &Tree) {
        self.create_roots();
        let mut todo = vec![(Tree::ROOT, root)];
        while let Some((from, to)) = todo.pop() {
            for (name, id) in tree.children(from) {
                let body = match tree.content(*id) {
                    Some(content) => Body::Shared(content.clone()),
                    None => Body::Directory(Directory::new()),
                };
                let is_directory = matches!(body, Body::Directory(_));
                let mut node = self.new_node(body);
                (node.charged, node.times) = (false, Times::FIXED);
                self.nodes.push(Some(node));
                let made = u32::try_from(self.nodes.len() - 1).expect("a tree has fewer than 2^32 files");
                if let Some(Node { body: Body::Directory(directory), .. }) = self.get_mut(to) {
                    directory.set(name, made);
                }
                if is_directory {
                    todo.push((*id, made));
                }
            }
            if let Some(node) = self.get_mut(to) {
                node.times = Times::FIXED;
            }
        }
    }

    /// Gives a file its own copy of its first `keep` bytes, if it still shares a tree's; the copy is charged.
    pub(super) fn make_own(&mut self, id: u32, keep: u64) -> Result<(), Errno> {
        let Some(Node { body: Body::Shared(content), .. }) = self.get(id) else { return Ok(()) };
        let content = content.clone();
        let len = content.len().min(keep);
        self.allowance.charge_file()?;
        let blob = self.allowance.charge_bytes(len).and_then(|()| copy_content(&content, len).map_err(|_| Errno::Io));
        let blob = blob.inspect_err(|errno| {
            self.allowance.scratch_files -= 1;
            if *errno == Errno::Io {
                self.allowance.scratch_bytes -= len;
            }
        })?;
        if let Some(node) = self.get_mut(id) {
            (node.body, node.charged) = (Body::File(blob), true);
        }
        Ok(())
    }

    /// The files below a root that are not just as the tree has them, by path. What is only open has no path, and is left out.
    pub fn written_files(&self, root: u32, tree: &Tree) -> Vec<WrittenFile> {
        let mut written = Vec::new();
        let mut todo = vec![(String::new(), root)];
        while let Some((above, id)) = todo.pop() {
            let Ok(directory) = self.get_directory(id) else { continue };
            for (_, name, id) in directory.entries_from(0) {
                let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
                match self.get(id).map(|node| &node.body) {
                    Some(Body::Directory(_)) => todo.push((path, id)),
                    Some(Body::Shared(content)) if is_same_file(tree, &path, content) => {}
                    Some(Body::Shared(content)) => {
                        let mut bytes = vec![0; usize::try_from(content.len()).unwrap_or_default()];
                        let count = content.read_at(&mut bytes, 0).unwrap_or_default();
                        bytes.truncate(count);
                        written.push(WrittenFile { path, bytes });
                    }
                    Some(Body::File(blob)) => {
                        let mut bytes = vec![0; usize::try_from(blob.len()).unwrap_or_default()];
                        blob.read_at(&mut bytes, 0);
                        written.push(WrittenFile { path, bytes });
                    }
                    None => {}
                }
            }
        }
        written.sort_by(|one, other| one.path.cmp(&other.path));
        written
    }
}

/// Whether the tree has this very content at this path: a file that was renamed is not where it was.
fn is_same_file(tree: &Tree, path: &str, content: &Content) -> bool {
    let found = path_names(path).try_fold(Tree::ROOT, |at, name| {
        tree.children(at).iter().find(|(other, _)| **other == *name).map(|(_, id)| *id)
    });
    match (found.and_then(|id| tree.content(id)), content) {
        (Some(Content::Bytes(one)), Content::Bytes(other)) => Arc::ptr_eq(one, other),
        (Some(Content::Lazy(one)), Content::Lazy(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}

fn copy_content(content: &Content, len: u64) -> std::io::Result<Blob> {
    let (mut blob, mut buffer) = (Blob::default(), [0; 16 << 10]);
    let mut done = 0;
    while done < len {
        let piece = usize::try_from(len - done).unwrap_or(usize::MAX).min(buffer.len());
        match content.read_at(&mut buffer[..piece], done)? {
            0 => break,
            count => {
                blob.write_at(&buffer[..count], done);
                done += count as u64;
            }
        }
    }
    blob.set_len(len);
    Ok(blob)
}
