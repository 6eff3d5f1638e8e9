//! How long something may wait, and the one place where HTTP waits for sockets: until one of them is ready, until a
//! deadline, or until the call is cancelled.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::error::HttpError;
use crate::limits::from_now;
use skillcell_limits::cancel::{CancelToken, Registration};

/// What ends a wait.
#[derive(Debug, Clone, Copy)]
pub struct Wait<'c> {
    by: Instant,
    cancel: &'c CancelToken,
}

impl<'c> Wait<'c> {
    pub fn new(by: Instant, cancel: &'c CancelToken) -> Wait<'c> {
        Wait { by, cancel }
    }

    /// The same wait, but for at most this long from now.
    #[must_use]
    pub fn at_most(self, time: Duration) -> Wait<'c> {
        self.no_later_than(from_now(time))
    }

    /// The same wait, but ending at this time at the latest.
    #[must_use]
    pub fn no_later_than(self, by: Instant) -> Wait<'c> {
        Wait { by: self.by.min(by), ..self }
    }

    pub fn time_left(self) -> Duration {
        self.by.saturating_duration_since(Instant::now())
    }

    pub fn is_over(self) -> bool {
        self.cancel.is_cancelled() || self.time_left().is_zero()
    }

    /// See [`CancelToken::on_cancel`].
    pub fn on_cancel(self, tell: impl Fn() + Send + 'static) -> Option<Registration> {
        self.cancel.on_cancel(tell)
    }

    /// The error for a wait that ended: cancelled, or timed out.
    pub fn timeout_error(self, doing: &'static str) -> HttpError {
        if self.cancel.is_cancelled() { HttpError::Cancelled } else { HttpError::TimedOut { doing } }
    }

    /// Waits until one of these has what it is asked about, or an error. An error of its own (see [`is_timeout`]) when the
    /// wait is over first.
    pub fn poll_sockets(self, sockets: &[(BorrowedFd<'_>, PollFlags)]) -> io::Result<()> {
        let event = self.cancel.event()?;
        let mut polled: Vec<PollFd<'_>> =
            sockets.iter().map(|(socket, flags)| PollFd::from_borrowed_fd(*socket, *flags)).collect();
        polled.extend(event.iter().map(|event| PollFd::from_borrowed_fd(event.as_fd(), PollFlags::IN)));
        loop {
            if self.is_over() {
                return Err(ErrorKind::TimedOut.into());
            }
            let left = Timespec::try_from(self.time_left()).map_err(|_| ErrorKind::InvalidInput)?;
            match poll(&mut polled, Some(&left)) {
                Err(Errno::INTR) | Ok(0) => {}
                Err(error) => return Err(error.into()),
                Ok(_) if polled[..sockets.len()].iter().any(|one| !one.revents().is_empty()) => return Ok(()),
                // Only the cancellation event fired; the loop reports it.
                Ok(_) => {}
            }
        }
    }
}

/// Whether an error means that a wait was over.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Whether reading a descriptor would not wait.
pub fn is_readable(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    let mut polled = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
    match poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
        Ok(count) => Ok(count > 0),
    }
}
