//! `fd_*` functions other than reading and writing: state, position, size, times, directory listing.

use super::guest::Guest;
use super::{Outcome, Wasi, abi};
use skillcell_vfs::{Entry, Errno, Kind, Whence};

impl Wasi {
    /// Advice is accepted and ignored.
    pub(super) fn fd_advise(&mut self, _: &mut Guest<'_>, fd: u32, _: u64, _: u64, _: u32) -> Outcome {
        self.vfs.access(fd)?;
        Ok(())
    }

    pub(super) fn fd_allocate(&mut self, _: &mut Guest<'_>, fd: u32, offset: u64, len: u64) -> Outcome {
        Ok(self.vfs.allocate(fd, offset, len)?)
    }

    pub(super) fn fd_close(&mut self, _: &mut Guest<'_>, fd: u32) -> Outcome {
        Ok(self.vfs.close(fd)?)
    }

    /// A no-op: a cell gives no guarantee of durability.
    pub(super) fn fd_datasync(&mut self, _: &mut Guest<'_>, fd: u32) -> Outcome {
        self.vfs.access(fd)?;
        Ok(())
    }

    pub(super) fn fd_sync(&mut self, guest: &mut Guest<'_>, fd: u32) -> Outcome {
        self.fd_datasync(guest, fd)
    }

    pub(super) fn fd_fdstat_get(&mut self, guest: &mut Guest<'_>, fd: u32, out: u32) -> Outcome {
        let mut stat = abi::encode_fdstat(self.vfs.kind(fd)?, self.vfs.access(fd)?);
        if self.vfs.is_terminal(fd) {
            // A device that can't seek is what `isatty` looks for.
            stat[0] = Kind::Device as u8;
        }
        Ok(guest.put_bytes(out, &stat)?)
    }

    /// Only appending means anything here; nothing blocks and everything is in sync.
    pub(super) fn fd_fdstat_set_flags(&mut self, _: &mut Guest<'_>, fd: u32, flags: u32) -> Outcome {
        Ok(self.vfs.set_append(fd, flags & abi::FLAG_APPEND != 0)?)
    }

    /// Rights follow from how a file was opened; preview 1 deprecated changing them.
    pub(super) fn fd_fdstat_set_rights(&mut self, _: &mut Guest<'_>, fd: u32, _: u64, _: u64) -> Outcome {
        self.vfs.access(fd)?;
        Err(Errno::Notsup.into())
    }

    pub(super) fn fd_filestat_get(&mut self, guest: &mut Guest<'_>, fd: u32, out: u32) -> Outcome {
        Ok(guest.put_bytes(out, &abi::encode_filestat(&self.vfs.stat(fd)?))?)
    }

    pub(super) fn fd_filestat_set_size(&mut self, _: &mut Guest<'_>, fd: u32, size: u64) -> Outcome {
        Ok(self.vfs.set_size(fd, size)?)
    }

    pub(super) fn fd_filestat_set_times(
        &mut self,
        _: &mut Guest<'_>,
        fd: u32,
        accessed_ns: u64,
        modified_ns: u64,
        flags: u32,
    ) -> Outcome {
        Ok(self.vfs.set_times(fd, abi::new_times(accessed_ns, modified_ns, flags)?)?)
    }

    /// The one preopen is `/`. A libc asks from 3 upwards until it hears `Badf`.
    pub(super) fn fd_prestat_get(&mut self, guest: &mut Guest<'_>, fd: u32, out: u32) -> Outcome {
        if !self.vfs.is_preopen(fd) {
            return Err(Errno::Badf.into());
        }
        Ok(guest.put_u64(out, 1 << 32)?)
    }

    pub(super) fn fd_prestat_dir_name(&mut self, guest: &mut Guest<'_>, fd: u32, name: u32, len: u32) -> Outcome {
        match (self.vfs.is_preopen(fd), len) {
            (false, _) => Err(Errno::Badf.into()),
            (true, 0) => Err(Errno::Nametoolong.into()),
            (true, _) => Ok(guest.put_bytes(name, b"/")?),
        }
    }

    pub(super) fn fd_renumber(&mut self, _: &mut Guest<'_>, from: u32, to: u32) -> Outcome {
        Ok(self.vfs.renumber(from, to)?)
    }

    pub(crate) fn fd_seek(&mut self, guest: &mut Guest<'_>, fd: u32, by: i64, whence: u32, out: u32) -> Outcome {
        let whence = match whence {
            0 => Whence::Start,
            1 => Whence::Current,
            2 => Whence::End,
            _ => return Err(Errno::Inval.into()),
        };
        guest.check_range(out, 8)?;
        Ok(guest.put_u64(out, self.vfs.seek(fd, by, whence)?)?)
    }

    pub(super) fn fd_tell(&mut self, guest: &mut Guest<'_>, fd: u32, out: u32) -> Outcome {
        Ok(guest.put_u64(out, self.vfs.seek(fd, 0, Whence::Current)?)?)
    }

    /// Fills the buffer with entries, the last one cut off if need be: a full buffer tells the guest that there is more.
    pub(super) fn fd_readdir(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        buf: u32,
        len: u32,
        cookie: u64,
        out: u32,
    ) -> Outcome {
        guest.check_range(out, 4)?;
        let room = guest.slice_mut(buf, len)?;
        let mut used = 0;
        self.vfs.read_dir(fd, cookie, &mut |entry: Entry<'_>| {
            used += copy_prefix(&mut room[used..], &abi::encode_dirent(&entry));
            used += copy_prefix(&mut room[used..], entry.name.as_bytes());
            used < room.len()
        })?;
        Ok(guest.put_u32(out, used as u32)?)
    }
}

/// Copies what fits.
fn copy_prefix(room: &mut [u8], data: &[u8]) -> usize {
    let count = room.len().min(data.len());
    room[..count].copy_from_slice(&data[..count]);
    count
}
