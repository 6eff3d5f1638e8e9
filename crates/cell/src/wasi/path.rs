//! `path_*` functions. Paths are borrowed from guest memory and judged by the [`Vfs`](skillcell_vfs::Vfs); there are no links,
//! so whether to follow them (`lookup`) never matters.
#![expect(clippy::too_many_arguments, reason = "the specification's own lists")]

use super::guest::Guest;
use super::{Outcome, Wasi, abi};
use skillcell_vfs::Errno;

impl Wasi {
    pub(super) fn path_create_directory(&mut self, guest: &mut Guest<'_>, dir: u32, path: u32, len: u32) -> Outcome {
        Ok(self.vfs.make_directory(dir, guest.slice(path, len)?)?)
    }

    pub(super) fn path_filestat_get(
        &mut self,
        guest: &mut Guest<'_>,
        dir: u32,
        _lookup: u32,
        path: u32,
        len: u32,
        out: u32,
    ) -> Outcome {
        let stat = self.vfs.stat_at(dir, guest.slice(path, len)?)?;
        Ok(guest.put_bytes(out, &abi::encode_filestat(&stat))?)
    }

    pub(super) fn path_filestat_set_times(
        &mut self,
        guest: &mut Guest<'_>,
        dir: u32,
        _lookup: u32,
        path: u32,
        len: u32,
        accessed_ns: u64,
        modified_ns: u64,
        flags: u32,
    ) -> Outcome {
        let times = abi::new_times(accessed_ns, modified_ns, flags)?;
        Ok(self.vfs.set_times_at(dir, guest.slice(path, len)?, times)?)
    }

    pub(super) fn path_link(
        &mut self,
        guest: &mut Guest<'_>,
        dir: u32,
        _lookup: u32,
        path: u32,
        len: u32,
        _new_dir: u32,
        new_path: u32,
        new_len: u32,
    ) -> Outcome {
        guest.check_range(new_path, new_len)?;
        self.vfs.stat_at(dir, guest.slice(path, len)?)?;
        Err(Errno::Notsup.into())
    }

    pub(super) fn path_open(
        &mut self,
        guest: &mut Guest<'_>,
        dir: u32,
        _lookup: u32,
        path: u32,
        len: u32,
        how: u32,
        base: u64,
        _inheriting: u64,
        flags: u32,
        out: u32,
    ) -> Outcome {
        guest.check_range(out, 4)?;
        let fd = self.vfs.open(dir, guest.slice(path, len)?, abi::open_request(how, base, flags))?;
        Ok(guest.put_u32(out, fd)?)
    }

    /// What exists is no link.
    pub(super) fn path_readlink(
        &mut self,
        guest: &mut Guest<'_>,
        dir: u32,
        path: u32,
        len: u32,
        _buf: u32,
        _buf_len: u32,
        _out: u32,
    ) -> Outcome {
        self.vfs.stat_at(dir, guest.slice(path, len)?)?;
        Err(Errno::Inval.into())
    }

    pub(super) fn path_remove_directory(&mut self, guest: &mut Guest<'_>, dir: u32, path: u32, len: u32) -> Outcome {
        Ok(self.vfs.remove_directory(dir, guest.slice(path, len)?)?)
    }

    pub(super) fn path_rename(
        &mut self,
        guest: &mut Guest<'_>,
        dir: u32,
        path: u32,
        len: u32,
        new_dir: u32,
        new_path: u32,
        new_len: u32,
    ) -> Outcome {
        let (from, to) = (guest.slice(path, len)?, guest.slice(new_path, new_len)?);
        Ok(self.vfs.rename(dir, from, new_dir, to)?)
    }

    pub(super) fn path_symlink(
        &mut self,
        guest: &mut Guest<'_>,
        target: u32,
        target_len: u32,
        _dir: u32,
        path: u32,
        len: u32,
    ) -> Outcome {
        guest.check_range(target, target_len)?;
        guest.check_range(path, len)?;
        Err(Errno::Notsup.into())
    }

    pub(super) fn path_unlink_file(&mut self, guest: &mut Guest<'_>, dir: u32, path: u32, len: u32) -> Outcome {
        Ok(self.vfs.unlink(dir, guest.slice(path, len)?)?)
    }
}
