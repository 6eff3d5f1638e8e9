//! A process that runs: its end by itself, by a deadline or by its drop, and what it says meanwhile. It never waits for a
//! pipe that nobody closes.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Output};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group};

use super::spawn::has_ended_within;

/// How long what is in a pipe at a process's end is read: something else may hold it open.
const DRAIN: Duration = Duration::from_secs(2);

/// How much of a stream is kept.
#[derive(Debug, Clone, Copy)]
pub enum Keep {
    First(usize),
    Last(usize),
}

impl Default for Keep {
    fn default() -> Keep {
        Keep::First(8 << 20)
    }
}

/// How a process came to its end.
#[derive(Debug)]
pub enum Finished {
    Ended(Output),
    TookTooLong,
}

/// What was kept of a stream.
#[derive(Debug, Default)]
pub struct Said {
    pub bytes: Vec<u8>,
    /// There was more than was to be kept.
    pub overflowed: bool,
}

/// A process in a group of its own. Dropped before its end, it is killed with the group.
pub struct Running {
    child: Child,
    /// Can't become another's, as its number can.
    hold: OwnedFd,
    ended: Option<ExitStatus>,
    streams: [Arc<Stream>; 2],
    overflow: Receiver<usize>,
}

/// What a thread reads, and whether it came to the end.
#[derive(Default)]
struct Stream {
    read: Mutex<(Said, bool)>,
    ended: Condvar,
}

impl Running {
    /// Input is written, and each stream is read, by a thread of its own. What is not kept is read too, so that the
    /// process can end.
    pub(super) fn new(mut child: Child, input: Option<Vec<u8>>, keep: [Keep; 2]) -> io::Result<Running> {
        let hold = match rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(hold) => hold,
            Err(error) => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(error.into());
            }
        };
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            // It may end without reading all of it: not our loss.
            std::thread::spawn(move || drop(pipe.write_all(&input)));
        }
        let (tell, overflow) = mpsc::channel();
        let stdout = child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let stderr = child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let out = Stream::read(stdout, keep[0], 0, tell.clone());
        let err = Stream::read(stderr, keep[1], 1, tell);
        Ok(Running { child, hold, ended: None, streams: [out, err], overflow })
    }

    /// Its end, or `None` when that has not come by then.
    pub fn wait(&mut self, until: Instant) -> io::Result<Option<ExitStatus>> {
        while self.ended.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if has_ended_within(self.hold.as_fd(), left) {
                self.reap();
            } else if Instant::now() >= until {
                break;
            }
        }
        Ok(self.ended)
    }

    /// Waits for its end, and kills it if that does not come in time.
    pub fn finish(mut self, deadline: Instant) -> io::Result<Finished> {
        let Some(status) = self.wait(deadline)? else { return Ok(Finished::TookTooLong) };
        let [stdout, stderr] = self.said(Instant::now() + DRAIN).map(|said| said.bytes);
        Ok(Finished::Ended(Output { status, stdout, stderr }))
    }

    /// Which stream, if any, has had more than was to be kept: 0 for stdout, 1 for stderr.
    pub fn overflowed(&self) -> Option<usize> {
        self.overflow.try_recv().ok()
    }

    /// What it said, to the end or, where something holds a stream open, until then.
    pub fn said(&mut self, until: Instant) -> [Said; 2] {
        self.streams.each_ref().map(|stream| stream.take(until))
    }

    /// Ends it and its group.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            self.reap();
        }
    }

    /// Kills the group, then takes the child's status. Until that is taken the number of both can't be another's.
    fn reap(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = rustix::process::pidfd_send_signal(&self.hold, Signal::KILL);
        self.ended = Some(self.child.wait().unwrap_or_else(|_| ExitStatus::from_raw(libc::SIGKILL)));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Stream {
    fn read(pipe: Option<Box<dyn Read + Send>>, keep: Keep, which: usize, tell: Sender<usize>) -> Arc<Stream> {
        let stream = Arc::new(Stream::default());
        let Some(mut pipe) = pipe else {
            stream.end();
            return stream;
        };
        let reading = stream.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => reading.add(&buffer[..count], keep, || {
                        let _ = tell.send(which);
                    }),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            reading.end();
        });
        stream
    }

    fn add(&self, bytes: &[u8], keep: Keep, on_overflow: impl FnOnce()) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let said = &mut read.0;
        let over = match keep {
            Keep::First(most) => {
                let room = most.saturating_sub(said.bytes.len()).min(bytes.len());
                said.bytes.extend_from_slice(&bytes[..room]);
                bytes.len() - room
            }
            Keep::Last(most) => {
                said.bytes.extend_from_slice(bytes);
                let over = said.bytes.len().saturating_sub(most);
                said.bytes.drain(..over);
                over
            }
        };
        if over > 0 && !said.overflowed {
            said.overflowed = true;
            on_overflow();
        }
    }

    fn end(&self) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.ended.notify_all();
    }

    fn take(&self, until: Instant) -> Said {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        while !read.1 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            read = self.ended.wait_timeout(read, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::take(&mut read.0)
    }
}
