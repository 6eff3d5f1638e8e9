//! Reading and writing: `fd_read`, `fd_write` and their positioned kin, straight between guest memory and the file.
//!
//! One call moves at most [`MAX_TRANSFER_BYTES`]: a thousand vectors over the same large memory would otherwise keep the host busy
//! past any deadline. A short count is ordinary to every caller of `read` and `write`.

use std::time::Instant;

use super::guest::Guest;
use super::{Failure, Outcome, Stop, Wasi};
use skillcell_limits::LimitKind;
use skillcell_vfs::{Errno, Vfs};

const MAX_TRANSFER_BYTES: u32 = 16 << 20;

impl Wasi {
    pub(super) fn fd_read(&mut self, guest: &mut Guest<'_>, fd: u32, iovs: u32, count: u32, out: u32) -> Outcome {
        let (deadline, cancel) = (self.deadline, self.cancel.clone());
        self.read_vectors(guest, iovs, count, out, move |vfs, buf, _| {
            loop {
                match vfs.read(fd, buf) {
                    // Standard input that is still to come: waited for, but not past the deadline.
                    Err(Errno::Again) if cancel.is_cancelled() => return Err(Stop::Cancelled.into()),
                    Err(Errno::Again) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                        return Err(Stop::Exceeded(LimitKind::Deadline).into());
                    }
                    Err(Errno::Again) => {}
                    done => return Ok(done?),
                }
            }
        })
    }

    pub(super) fn fd_pread(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        iovs: u32,
        count: u32,
        offset: u64,
        out: u32,
    ) -> Outcome {
        let at = |done: u32| offset.checked_add(u64::from(done)).ok_or(Errno::Inval);
        self.read_vectors(guest, iovs, count, out, |vfs, buf, done| Ok(vfs.read_at(fd, buf, at(done)?)?))
    }

    pub(super) fn fd_write(&mut self, guest: &mut Guest<'_>, fd: u32, iovs: u32, count: u32, out: u32) -> Outcome {
        self.write_vectors(guest, iovs, count, out, |vfs, data, _| Ok(vfs.write(fd, data)?))
    }

    pub(super) fn fd_pwrite(
        &mut self,
        guest: &mut Guest<'_>,
        fd: u32,
        iovs: u32,
        count: u32,
        offset: u64,
        out: u32,
    ) -> Outcome {
        let at = |done: u32| offset.checked_add(u64::from(done)).ok_or(Errno::Inval);
        self.write_vectors(guest, iovs, count, out, |vfs, data, done| Ok(vfs.write_at(fd, data, at(done)?)?))
    }

    fn read_vectors(
        &mut self,
        guest: &mut Guest<'_>,
        iovs: u32,
        count: u32,
        out: u32,
        mut read: impl FnMut(&mut Vfs, &mut [u8], u32) -> Outcome<usize>,
    ) -> Outcome {
        let drawn = self.vfs.entropy_bytes();
        let moved = move_vectors(guest, iovs, count, out, |guest, start, len, done| {
            read(&mut self.vfs, guest.slice_mut(start, len)?, done)
        });
        self.entropy_bytes += self.vfs.entropy_bytes() - drawn;
        moved
    }

    fn write_vectors(
        &mut self,
        guest: &mut Guest<'_>,
        iovs: u32,
        count: u32,
        out: u32,
        mut write: impl FnMut(&mut Vfs, &[u8], u32) -> Outcome<usize>,
    ) -> Outcome {
        move_vectors(guest, iovs, count, out, |guest, start, len, done| {
            write(&mut self.vfs, guest.slice(start, len)?, done)
        })
    }
}

/// Goes through the vectors until one is not filled. An error after the first byte is not reported: the guest hears how
/// far it got, and gets the error when it goes on from there. Only a `Stop` is never put off.
fn move_vectors(
    guest: &mut Guest<'_>,
    iovs: u32,
    count: u32,
    out: u32,
    mut transfer: impl FnMut(&mut Guest<'_>, u32, u32, u32) -> Outcome<usize>,
) -> Outcome {
    guest.check_range(out, 4)?;
    let mut vectors = guest.io_vectors(iovs, count)?;
    let (mut done, mut tried) = (0, false);
    while let Some((start, len)) = vectors.next(guest)? {
        let len = len.min(MAX_TRANSFER_BYTES - done);
        if len == 0 {
            continue;
        }
        tried = true;
        match transfer(guest, start, len, done) {
            Ok(moved) => {
                done += moved as u32;
                if (moved as u32) < len {
                    break;
                }
            }
            Err(Failure::Errno(_)) if done > 0 => break,
            Err(failure) => return Err(failure),
        }
    }
    if !tried {
        // Nothing to move still says whether the descriptor is any good.
        transfer(guest, 0, 0, 0)?;
    }
    Ok(guest.put_u32(out, done)?)
}
