//! A running process: waiting for it with a deadline, killing it, and capturing its output. Reading never blocks on a pipe
//! that another process keeps open.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Output};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group};

use super::spawn::has_ended_within;

/// How long output is still read after the process has ended: another process may keep the pipe open.
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

/// How a process ended.
#[derive(Debug)]
pub enum Finished {
    Ended(Output),
    TookTooLong,
}

/// What was captured of a stream.
#[derive(Debug, Default)]
pub struct Captured {
    pub bytes: Vec<u8>,
    /// There was more than the limit, and the rest was dropped.
    pub overflowed: bool,
}

/// A process in a group of its own. Dropped before its end, it is killed with the group.
pub struct Running {
    child: Child,
    /// Unlike the process id, it can't come to mean another process.
    pidfd: OwnedFd,
    ended: Option<ExitStatus>,
    streams: [Arc<Stream>; 2],
    overflow: Receiver<usize>,
}

/// What a thread has read so far, and whether the stream has ended.
#[derive(Default)]
struct Stream {
    read: Mutex<(Captured, bool)>,
    ended: Condvar,
}

impl Running {
    /// Starts a thread that writes the input and one for each output stream. Output over the limit is read and dropped, so
    /// that the process never blocks on a full pipe.
    pub(super) fn new(mut child: Child, input: Option<Vec<u8>>, keep: [Keep; 2]) -> io::Result<Running> {
        let pidfd = match rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(error) => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(error.into());
            }
        };
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            // The process may end without reading all of its input, which is no error.
            std::thread::spawn(move || drop(pipe.write_all(&input)));
        }
        let (overflow_sender, overflow) = mpsc::channel();
        let stdout = child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let stderr = child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let out = Stream::spawn_reader(stdout, keep[0], 0, overflow_sender.clone());
        let err = Stream::spawn_reader(stderr, keep[1], 1, overflow_sender);
        Ok(Running { child, pidfd, ended: None, streams: [out, err], overflow })
    }

    /// Waits for its end, or returns `None` if it still runs at `until`.
    pub fn wait(&mut self, until: Instant) -> io::Result<Option<ExitStatus>> {
        while self.ended.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if has_ended_within(self.pidfd.as_fd(), left) {
                self.kill_and_reap();
            } else if Instant::now() >= until {
                break;
            }
        }
        Ok(self.ended)
    }

    /// Waits for its end, and kills it at the deadline.
    pub fn finish(mut self, deadline: Instant) -> io::Result<Finished> {
        let Some(status) = self.wait(deadline)? else { return Ok(Finished::TookTooLong) };
        let [stdout, stderr] = self.take_output(Instant::now() + DRAIN).map(|captured| captured.bytes);
        Ok(Finished::Ended(Output { status, stdout, stderr }))
    }

    /// A stream that went over its limit since the last call, if any: 0 for stdout, 1 for stderr.
    pub fn overflowed_stream(&self) -> Option<usize> {
        self.overflow.try_recv().ok()
    }

    /// The captured output: all of it or, if another process keeps a stream open, what came before `until`.
    pub fn take_output(&mut self, until: Instant) -> [Captured; 2] {
        self.streams.each_ref().map(|stream| stream.take_until_ended(until))
    }

    /// Kills it and its process group.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            self.kill_and_reap();
        }
    }

    /// Kills the group, then reaps the child. The ids of both can't be reused before the child is reaped.
    fn kill_and_reap(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL);
        self.ended = Some(self.child.wait().unwrap_or_else(|_| ExitStatus::from_raw(libc::SIGKILL)));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Stream {
    fn spawn_reader(
        pipe: Option<Box<dyn Read + Send>>,
        keep: Keep,
        which: usize,
        overflow_sender: Sender<usize>,
    ) -> Arc<Stream> {
        let stream = Arc::new(Stream::default());
        let Some(mut pipe) = pipe else {
            stream.mark_ended();
            return stream;
        };
        // Not joined: the pipe may stay open after the process has ended.
        let reading = stream.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => reading.append(&buffer[..count], keep, || {
                        let _ = overflow_sender.send(which);
                    }),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            reading.mark_ended();
        });
        stream
    }

    fn append(&self, bytes: &[u8], keep: Keep, on_overflow: impl FnOnce()) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let captured = &mut read.0;
        let over = match keep {
            Keep::First(most) => {
                let room = most.saturating_sub(captured.bytes.len()).min(bytes.len());
                captured.bytes.extend_from_slice(&bytes[..room]);
                bytes.len() - room
            }
            Keep::Last(most) => {
                captured.bytes.extend_from_slice(bytes);
                let over = captured.bytes.len().saturating_sub(most);
                captured.bytes.drain(..over);
                over
            }
        };
        if over > 0 && !captured.overflowed {
            captured.overflowed = true;
            on_overflow();
        }
    }

    fn mark_ended(&self) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.ended.notify_all();
    }

    fn take_until_ended(&self, until: Instant) -> Captured {
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
