//! The names in one scratch directory, in an order that deleting and adding don't disturb: a cell may remove
//! entries while it lists them (`shutil.rmtree` does), and must neither skip one nor see one twice.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Invariant: `places` and `entries` hold the same names; a place is never given twice.
#[derive(Debug, Default)]
pub struct Directory {
    places: BTreeMap<Arc<str>, u64>,
    entries: BTreeMap<u64, (Arc<str>, u32)>,
    next_place: u64,
}

impl Directory {
    pub const fn new() -> Directory {
        Directory { places: BTreeMap::new(), entries: BTreeMap::new(), next_place: 0 }
    }

    pub fn get(&self, name: &str) -> Option<u32> {
        self.places.get(name).map(|place| self.entries[place].1)
    }

    /// Adds a name, or points an existing one at another node.
    pub fn set(&mut self, name: &str, node: u32) {
        if let Some(place) = self.places.get(name) {
            self.entries.entry(*place).and_modify(|entry| entry.1 = node);
            return;
        }
        let name: Arc<str> = name.into();
        self.places.insert(name.clone(), self.next_place);
        self.entries.insert(self.next_place, (name, node));
        self.next_place += 1;
    }

    pub fn remove(&mut self, name: &str) {
        if let Some(place) = self.places.remove(name) {
            self.entries.remove(&place);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Place, name and node of every entry from a place on.
    pub fn entries_from(&self, place: u64) -> impl Iterator<Item = (u64, &str, u32)> {
        self.entries.range(place..).map(|(place, (name, node))| (*place, &**name, *node))
    }
}
