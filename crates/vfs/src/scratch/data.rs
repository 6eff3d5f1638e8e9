//! What is in scratch files: reading, writing, size and times. Every growth is charged here, before it happens.

use super::{Body, Node, Scratch};
use crate::errno::Errno;
use crate::stat::{NewTimes, now_ns};

impl Scratch {
    pub fn read_at(&self, id: u32, buf: &mut [u8], offset: u64) -> Result<usize, Errno> {
        match self.get(id).map(|node| &node.body) {
            Some(Body::File(blob)) => Ok(blob.read_at(buf, offset)),
            Some(Body::Shared(content)) => content.read_at(buf, offset).map_err(|_| Errno::Io),
            _ => Err(Errno::Isdir),
        }
    }

    /// Writes as much of `data` as the quota allows; nothing at all is `Nospc`.
    pub fn write_at(&mut self, id: u32, data: &[u8], offset: u64) -> Result<usize, Errno> {
        if !data.is_empty() {
            self.make_own(id, u64::MAX)?;
        }
        let Scratch { nodes, allowance, .. } = self;
        let node = nodes.get_mut(id as usize).and_then(Option::as_mut).ok_or(Errno::Badf)?;
        if data.is_empty() {
            return if matches!(node.body, Body::Directory(_)) { Err(Errno::Isdir) } else { Ok(0) };
        }
        let Body::File(blob) = &mut node.body else { return Err(Errno::Isdir) };
        let end = offset.checked_add(data.len() as u64).ok_or(Errno::Fbig)?;
        let growth = end.saturating_sub(blob.len());
        // Bytes past the end are lost first, so a hole that doesn't fit leaves nothing to write.
        let missing = growth - allowance.charge_up_to(growth);
        let kept = (data.len() as u64).saturating_sub(missing) as usize;
        if kept == 0 {
            allowance.scratch_bytes -= growth - missing;
            return Err(Errno::Nospc);
        }
        blob.write_at(&data[..kept], offset);
        node.mark_modified();
        Ok(kept)
    }

    pub fn set_size(&mut self, id: u32, size: u64) -> Result<(), Errno> {
        self.make_own(id, size)?;
        let Scratch { nodes, allowance, .. } = self;
        let node = nodes.get_mut(id as usize).and_then(Option::as_mut).ok_or(Errno::Badf)?;
        let Body::File(blob) = &mut node.body else { return Err(Errno::Isdir) };
        allowance.charge_bytes(size.saturating_sub(blob.len()))?;
        allowance.scratch_bytes -= blob.len().saturating_sub(size);
        blob.set_len(size);
        node.mark_modified();
        Ok(())
    }

    pub fn set_times(&mut self, id: u32, new: NewTimes) {
        self.create_roots();
        if let Some(node) = self.get_mut(id) {
            node.times.accessed_ns = new.accessed_ns.unwrap_or(node.times.accessed_ns);
            node.times.modified_ns = new.modified_ns.unwrap_or(node.times.modified_ns);
            node.times.changed_ns = now_ns();
        }
    }
}

impl Node {
    fn mark_modified(&mut self) {
        self.times.modified_ns = now_ns();
        self.times.changed_ns = self.times.modified_ns;
    }
}
