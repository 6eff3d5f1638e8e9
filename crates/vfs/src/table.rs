//! The descriptor table of one cell: maps numbers to open files, lowest free number first. The caller enforces caps.

use super::errno::Errno;
use super::file::{Access, Descriptor, Object};

/// The root directory's descriptor, the only preopen.
pub const ROOT: u32 = 3;

pub(super) struct Table {
    slots: Vec<Option<Descriptor>>,
}

impl Table {
    /// Standard input, output and error, and the root.
    pub fn new() -> Table {
        let mut slots = Vec::with_capacity(8);
        let reading = Access { read: true, write: false, append: false };
        let writing = Access { read: false, write: true, append: true };
        for (object, access) in [
            (Object::Stdin, reading),
            (Object::Stdout, writing),
            (Object::Stderr, writing),
            (Object::Directory("".into()), reading),
        ] {
            slots.push(Some(Descriptor { object, offset: 0, access, charged: false, listing: None }));
        }
        Table { slots }
    }

    pub fn get(&self, fd: u32) -> Result<&Descriptor, Errno> {
        self.slots.get(fd as usize).and_then(Option::as_ref).ok_or(Errno::Badf)
    }

    pub fn get_mut(&mut self, fd: u32) -> Result<&mut Descriptor, Errno> {
        self.slots.get_mut(fd as usize).and_then(Option::as_mut).ok_or(Errno::Badf)
    }

    /// Closes the files of the host's folders. Their numbers stay taken until the cell closes them too.
    pub fn close_host_files(&mut self) {
        for open in self.slots.iter_mut().flatten() {
            if matches!(open.object, Object::Host { .. }) {
                open.object = Object::Closed;
            }
            open.listing = None;
        }
    }

    /// How many names the current listings hold.
    pub fn listed_names(&self) -> usize {
        self.slots.iter().flatten().filter_map(|open| open.listing.as_ref()).map(|names| names.len()).sum()
    }

    pub fn add(&mut self, descriptor: Descriptor) -> u32 {
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if free == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[free] = Some(descriptor);
        free as u32
    }

    pub fn take(&mut self, fd: u32) -> Result<Descriptor, Errno> {
        self.slots.get_mut(fd as usize).and_then(Option::take).ok_or(Errno::Badf)
    }

    /// Puts `from` in the place of `to`, and gives back what was there. Both have to be open, so a cell can't
    /// stretch the table by naming a large number.
    pub fn move_to(&mut self, from: u32, to: u32) -> Result<Descriptor, Errno> {
        self.get(to)?;
        let moved = self.take(from)?;
        let slot = &mut self.slots[to as usize];
        slot.replace(moved).ok_or(Errno::Badf)
    }
}
