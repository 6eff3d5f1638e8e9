//! A process that is spoken to through its pipes: what it is told, how much of what it says is kept, and how long it may
//! take. It never waits for a pipe that nobody closes.

use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// The most that is kept of what an engine's own command says.
const MAX_SAID_BYTES: u64 = 8 << 20;
/// How long the wait for a process that has closed its pipes sleeps at a time.
const NAP: Duration = Duration::from_millis(2);

/// How a process came to its end.
pub enum Finished {
    Ended(Output),
    TookTooLong,
}

/// Runs it to its end with this input, or ends it, and its group, when time is up.
pub fn finish(command: &mut Command, input: Option<&[u8]>, patience: Duration) -> io::Result<Finished> {
    let mut running = Running::start(command, input, [MAX_SAID_BYTES; 2])?;
    let deadline = Instant::now() + patience;
    match running.wait(deadline)? {
        Some(status) => {
            let [stdout, stderr] = running.said(deadline).map(|said| said.bytes);
            Ok(Finished::Ended(Output { status, stdout, stderr }))
        }
        None => Ok(Finished::TookTooLong),
    }
}

/// What was kept of a pipe.
#[derive(Debug, Default)]
pub struct Said {
    pub bytes: Vec<u8>,
    /// There was more than may be kept.
    pub overflowed: bool,
}

/// A process in a group of its own. Dropped before its end, it is killed with the group.
pub struct Running {
    child: Child,
    ended: Option<ExitStatus>,
    pipes: [Receiver<Said>; 2],
    overflow: Receiver<usize>,
}

impl Running {
    /// Starts it. The input is written by a thread of its own, and each pipe is read by one up to its cap; whatever
    /// comes after that is read and thrown away, so that the process can end.
    pub fn start(command: &mut Command, input: Option<&[u8]>, caps: [u64; 2]) -> io::Result<Running> {
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            let input = input.to_vec();
            // It may end without reading all of it: not our loss.
            std::thread::spawn(move || drop(pipe.write_all(&input)));
        }
        let (tell, overflow) = mpsc::channel();
        let out: Option<Box<dyn Read + Send>> = child.stdout.take().map(|pipe| Box::new(pipe) as _);
        let err: Option<Box<dyn Read + Send>> = child.stderr.take().map(|pipe| Box::new(pipe) as _);
        let pipes = [reader(out, caps[0], (0, tell.clone())), reader(err, caps[1], (1, tell))];
        Ok(Running { child, ended: None, pipes, overflow })
    }

    /// Its end, or `None` when that has not come by the deadline.
    pub fn wait(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            self.ended = self.child.try_wait()?;
            if self.ended.is_some() || Instant::now() >= deadline {
                return Ok(self.ended);
            }
            std::thread::sleep(NAP);
        }
    }

    /// Which pipe, if any, has had more than may be kept: 0 for stdout, 1 for stderr.
    pub fn overflowed(&self) -> Option<usize> {
        self.overflow.try_recv().ok()
    }

    /// What it said. A pipe that is still held open by something gives what there is at the deadline: nothing.
    pub fn said(&mut self, deadline: Instant) -> [Said; 2] {
        self.pipes
            .each_ref()
            .map(|pipe| pipe.recv_timeout(deadline.saturating_duration_since(Instant::now())).unwrap_or_default())
    }

    /// Ends it and its group.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            self.ended = Some(self.child.wait().unwrap_or_else(|_| ExitStatus::from_raw(9)));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

fn reader(pipe: Option<Box<dyn Read + Send>>, cap: u64, (which, tell): (usize, mpsc::Sender<usize>)) -> Receiver<Said> {
    let (give, take) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut said = Said::default();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(cap).read_to_end(&mut said.bytes);
            let more = io::copy(&mut pipe.by_ref().take(1), &mut io::sink()).unwrap_or(0);
            if more > 0 {
                said.overflowed = true;
                let _ = tell.send(which);
                let _ = io::copy(&mut pipe, &mut io::sink());
            }
        }
        let _ = give.send(said);
    });
    take
}
