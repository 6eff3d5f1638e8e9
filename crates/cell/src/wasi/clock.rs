//! Clocks, and the one function that waits. Waiting is done on the cell's own thread, and ends at the deadline.

use std::time::{Duration, Instant};

use super::guest::Guest;
use super::{Outcome, Stop, Wasi};
use skillcell_limits::LimitKind;
use skillcell_vfs::{Errno, now_ns};

const MAX_SUBSCRIPTIONS: u32 = 1024;
const SUBSCRIPTION_BYTES: u32 = 48;
const EVENT_BYTES: usize = 32;
const ABSOLUTE: u16 = 1;

/// ```text
/// 0 user data u64 | 8 tag u8 | 16 clock u32, 24 timeout u64, 40 flags u16   (tag 0)
///                            | 16 descriptor u32                            (tag 1 to read, 2 to write)
/// ```
struct Subscription {
    user_data: [u8; 8],
    tag: u8,
    /// The clock or the descriptor.
    subject: u32,
    timeout_ns: u64,
    flags: u16,
}

impl Wasi {
    pub(super) fn clock_res_get(&mut self, guest: &mut Guest<'_>, id: u32, out: u32) -> Outcome {
        self.clock_ns(id)?;
        Ok(guest.put_u64(out, 1)?)
    }

    pub(super) fn clock_time_get(&mut self, guest: &mut Guest<'_>, id: u32, _precision_ns: u64, out: u32) -> Outcome {
        Ok(guest.put_u64(out, self.clock_ns(id)?)?)
    }

    /// 0 is the wall clock, 1 runs evenly, 2 and 3 are CPU time, for which the time since the cell began has to do.
    pub(crate) fn clock_ns(&self, id: u32) -> Result<u64, Errno> {
        match id {
            0 => Ok(self.practice.as_ref().map_or_else(now_ns, |practice| practice.wall_ns())),
            1 => Ok(as_nanoseconds(self.monotonic_now())),
            2 | 3 => Ok(as_nanoseconds(self.elapsed())),
            _ => Err(Errno::Inval),
        }
    }

    /// Files are always ready, so a call waits only if it asks for nothing but clocks.
    pub(super) fn poll_oneoff(
        &mut self,
        guest: &mut Guest<'_>,
        subscriptions: u32,
        events: u32,
        count: u32,
        out: u32,
    ) -> Outcome {
        if count == 0 || count > MAX_SUBSCRIPTIONS {
            return Err(Errno::Inval.into());
        }
        guest.check_range(subscriptions, count * SUBSCRIPTION_BYTES)?;
        guest.check_range(events, count * EVENT_BYTES as u32)?;
        guest.check_range(out, 4)?;
        // All timeouts are relative to one reading of the clocks, so that what is due does not depend on how long this takes.
        let begun = [0, 1, 2, 3].map(|id| self.clock_ns(id).unwrap_or_default());
        let mut soonest_ns = u64::MAX;
        for index in 0..count {
            soonest_ns = soonest_ns.min(read_subscription(guest, subscriptions, index)?.wait_ns(&begun));
        }
        self.sleep_until_deadline(Duration::from_nanos(soonest_ns))?;
        let mut ready = 0;
        for index in 0..count {
            let subscription = read_subscription(guest, subscriptions, index)?;
            if subscription.wait_ns(&begun) <= soonest_ns {
                guest.put_bytes(events + ready * EVENT_BYTES as u32, &self.encode_event(&subscription))?;
                ready += 1;
            }
        }
        Ok(guest.put_u32(out, ready)?)
    }

    /// Waits, but not past the deadline: if that comes first, this is the end of the call.
    pub(crate) fn sleep_until_deadline(&self, wait: Duration) -> Outcome {
        let left = self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        if let Some(practice) = &self.practice {
            practice.pass(wait.min(left));
        } else if !wait.is_zero() && self.cancel.sleep(wait.min(left)) {
            return Err(Stop::Cancelled.into());
        }
        if wait > left { Err(Stop::Exceeded(LimitKind::Deadline).into()) } else { Ok(()) }
    }

    /// ```text
    /// 0 user data u64 | 8 error u16 | 10 type u8 | 16 bytes ready u64 | 24 flags u16
    /// ```
    fn encode_event(&self, subscription: &Subscription) -> [u8; EVENT_BYTES] {
        let error = match subscription.tag {
            0 => self.clock_ns(subscription.subject).err(),
            1 | 2 => self.vfs.access(subscription.subject).err(),
            _ => Some(Errno::Inval),
        };
        let mut event = [0; EVENT_BYTES];
        event[..8].copy_from_slice(&subscription.user_data);
        event[8..10].copy_from_slice(&error.map_or(0, |errno| errno as u16).to_le_bytes());
        event[10] = subscription.tag;
        if let (1 | 2, Ok(stat)) = (subscription.tag, self.vfs.stat(subscription.subject)) {
            event[16..24].copy_from_slice(&stat.size.max(1).to_le_bytes());
        }
        event
    }
}

impl Subscription {
    /// How long until it is due, with the four clocks at `begun`. What is no clock, or no valid one, is due at once.
    fn wait_ns(&self, begun: &[u64; 4]) -> u64 {
        match begun.get(self.subject as usize) {
            Some(now) if self.tag == 0 && self.flags & ABSOLUTE != 0 => self.timeout_ns.saturating_sub(*now),
            Some(_) if self.tag == 0 => self.timeout_ns,
            _ => 0,
        }
    }
}

fn read_subscription(guest: &Guest<'_>, table: u32, index: u32) -> Result<Subscription, Errno> {
    // Can't overflow: the whole table was checked to lie in memory.
    let bytes: [u8; SUBSCRIPTION_BYTES as usize] = guest.read_array(table + index * SUBSCRIPTION_BYTES)?;
    let [d0, d1, d2, d3, d4, d5, d6, d7, tag, _, _, _, _, _, _, _, s0, s1, s2, s3, ..] = bytes;
    let timeout = bytes[24..32].try_into().map_err(|_| Errno::Fault)?;
    Ok(Subscription {
        user_data: [d0, d1, d2, d3, d4, d5, d6, d7],
        tag,
        subject: u32::from_le_bytes([s0, s1, s2, s3]),
        timeout_ns: u64::from_le_bytes(timeout),
        flags: u16::from_le_bytes([bytes[40], bytes[41]]),
    })
}

fn as_nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
