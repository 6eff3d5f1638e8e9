//! Arguments, environment, random numbers, and what is refused outright: signals and sockets.

use super::guest::Guest;
use super::{Outcome, Stop, Wasi};
use skillcell_limits::LimitKind;
use skillcell_vfs::Errno;

/// Random bytes made between two looks at the deadline.
const RANDOM_PIECE: usize = 1 << 20;

impl Wasi {
    pub(super) fn args_get(&mut self, guest: &mut Guest<'_>, argv: u32, text: u32) -> Outcome {
        put_strings(guest, self.args.iter().map(|arg| [arg.as_str(), "", ""]), argv, text)
    }

    pub(super) fn args_sizes_get(&mut self, guest: &mut Guest<'_>, count: u32, size: u32) -> Outcome {
        put_sizes(guest, self.args.iter().map(|arg| arg.len() + 1), count, size)
    }

    pub(super) fn environ_get(&mut self, guest: &mut Guest<'_>, environ: u32, text: u32) -> Outcome {
        put_strings(guest, self.env.iter().map(|(name, value)| [name, "=", value]), environ, text)
    }

    pub(super) fn environ_sizes_get(&mut self, guest: &mut Guest<'_>, count: u32, size: u32) -> Outcome {
        put_sizes(guest, self.env.iter().map(|(name, value)| name.len() + value.len() + 2), count, size)
    }

    /// Always fresh from the host, also in a cell restored from an image.
    pub(super) fn random_get(&mut self, guest: &mut Guest<'_>, buf: u32, len: u32) -> Outcome {
        for piece in guest.slice_mut(buf, len)?.chunks_mut(RANDOM_PIECE) {
            if self.deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline) {
                return Err(Stop::Exceeded(LimitKind::Deadline).into());
            }
            match &mut self.practice {
                Some(practice) => practice.fill(piece),
                None => getrandom::fill(piece).map_err(|_| Stop::NoEntropy)?,
            }
            self.entropy_bytes += piece.len() as u64;
        }
        Ok(())
    }

    pub(super) fn proc_raise(&mut self, _: &mut Guest<'_>, _signal: u32) -> Outcome {
        Err(Errno::Notsup.into())
    }

    /// A no-op: a cell has a single thread.
    pub(super) fn sched_yield(&mut self, _: &mut Guest<'_>) -> Outcome {
        Ok(())
    }

    pub(super) fn sock_accept(&mut self, _: &mut Guest<'_>, _fd: u32, _flags: u32, _out: u32) -> Outcome {
        Err(Errno::Notsup.into())
    }

    #[expect(clippy::too_many_arguments, reason = "the specification's own list")]
    pub(super) fn sock_recv(&mut self, _: &mut Guest<'_>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32) -> Outcome {
        Err(Errno::Notsup.into())
    }

    pub(super) fn sock_send(&mut self, _: &mut Guest<'_>, _: u32, _: u32, _: u32, _: u32, _: u32) -> Outcome {
        Err(Errno::Notsup.into())
    }

    pub(super) fn sock_shutdown(&mut self, _: &mut Guest<'_>, _fd: u32, _how: u32) -> Outcome {
        Err(Errno::Notsup.into())
    }
}

fn put_sizes(guest: &mut Guest<'_>, sizes: impl ExactSizeIterator<Item = usize>, count: u32, size: u32) -> Outcome {
    guest.put_u32(count, sizes.len() as u32)?;
    Ok(guest.put_u32(size, sizes.sum::<usize>() as u32)?)
}

/// Writes strings one after the other at `text`, each ended by a zero, and a pointer to each at `table`.
fn put_strings<'s>(
    guest: &mut Guest<'_>,
    strings: impl Iterator<Item = [&'s str; 3]>,
    mut table: u32,
    mut text: u32,
) -> Outcome {
    for parts in strings {
        guest.put_u32(table, text)?;
        table = table.checked_add(4).ok_or(Errno::Fault)?;
        for part in parts.map(str::as_bytes).into_iter().chain([&b"\0"[..]]) {
            guest.put_bytes(text, part)?;
            text = text.checked_add(part.len() as u32).ok_or(Errno::Fault)?;
        }
    }
    Ok(())
}
