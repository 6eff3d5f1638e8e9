//! The files of a pack as a tree that cells can see.

use std::io;
use std::sync::Arc;

use skillcell_cache::{Pack, PackEntry};
use skillcell_vfs::{Content, Source, Tree};

/// The files of a pack, read when they are asked for.
pub fn pack_tree(pack: Pack) -> Tree {
    let pack = Arc::new(pack);
    let mut tree = Tree::new();
    for (path, _) in pack.files() {
        if let Some(entry) = pack.entry(path) {
            let inserted = tree.insert(path, Content::Lazy(Arc::new(Packed { pack: pack.clone(), entry })));
            debug_assert!(inserted.is_ok(), "paths were checked when the pack was made: {inserted:?}");
        }
    }
    tree
}

/// One file of a pack.
struct Packed {
    pack: Arc<Pack>,
    entry: PackEntry,
}

impl Source for Packed {
    fn byte_len(&self) -> u64 {
        self.entry.len()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.pack.read_at(self.entry, buf, offset)
    }
}
