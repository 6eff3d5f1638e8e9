//! What a run prints, passed on while it runs: byte by byte, and on a terminal without what could drive it.
//!
//! A thread of its own writes, so that whoever reads slowly does not hold the run up: it meets its deadline all the same. What waits to
//! be written is bounded by the run's own limits of output.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use anyhow::Context;

use super::printer::escape_unprintable;
use skillcell_host::call::{Call, OnOutput, PrintedTo, Report};

/// A piece of a stream; nothing is the end. The end is told, since a session's cell goes on to hold the other end.
type Told = Option<(PrintedTo, Vec<u8>)>;

/// The streams of one run.
pub struct Streams {
    writer: JoinHandle<io::Result<()>>,
    sender: Sender<Told>,
    /// How much of stdout and stderr was passed on.
    told: Arc<[AtomicUsize; 2]>,
}

impl Streams {
    /// Has the call tell what it prints.
    pub fn start(call: &mut Call) -> Streams {
        let (sender, receiver) = channel::<Told>();
        let told = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let (to_writer, counted) = (sender.clone(), told.clone());
        call.on_output = Some(OnOutput::new(move |stream, piece| {
            counted[place_of(stream)].fetch_add(piece.len(), Ordering::Relaxed);
            // If nobody writes any more, nobody reads.
            let _ = to_writer.send(Some((stream, piece.to_vec())));
        }));
        let writer = std::thread::spawn(move || {
            let mut shown = [Shown::new(io::stdout().is_terminal()), Shown::new(io::stderr().is_terminal())];
            while let Ok(Some((stream, piece))) = receiver.recv() {
                shown[place_of(stream)].write(stream, &piece)?;
            }
            shown[0].finish(PrintedTo::Stdout)?;
            shown[1].finish(PrintedTo::Stderr)
        });
        Streams { writer, sender, told }
    }

    /// Passes on what was not told while it ran, and waits until all is written.
    pub fn finish(self, report: &Report) -> anyhow::Result<()> {
        for (stream, all) in [(PrintedTo::Stdout, &report.stdout), (PrintedTo::Stderr, &report.stderr)] {
            let told = self.told[place_of(stream)].load(Ordering::Relaxed);
            if let Some(rest) = all.get(told..).filter(|rest| !rest.is_empty()) {
                let _ = self.sender.send(Some((stream, rest.to_vec())));
            }
        }
        let _ = self.sender.send(None);
        match self.writer.join().unwrap_or_else(|_| Err(io::Error::other("it stopped"))) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("what the script printed could not be written")
            }
            _ => Ok(()),
        }
    }
}

fn place_of(stream: PrintedTo) -> usize {
    usize::from(stream == PrintedTo::Stderr)
}

/// One stream of this process.
struct Shown {
    is_terminal: bool,
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
}

impl Shown {
    fn new(is_terminal: bool) -> Shown {
        Shown { is_terminal, begun: Vec::new() }
    }

    fn write(&mut self, stream: PrintedTo, piece: &[u8]) -> io::Result<()> {
        if !self.is_terminal {
            return write_to(stream, piece);
        }
        self.begun.extend_from_slice(piece);
        let whole = self.begun.len() - begun_character(&self.begun);
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        write_to(stream, escape_unprintable(&String::from_utf8_lossy(&text)).as_bytes())
    }

    fn finish(&mut self, stream: PrintedTo) -> io::Result<()> {
        let text = std::mem::take(&mut self.begun);
        write_to(stream, escape_unprintable(&String::from_utf8_lossy(&text)).as_bytes())
    }
}

/// How many bytes at the end may be the beginning of a character.
fn begun_character(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        // Something else is wrong further ahead: the last three bytes are looked at alone.
        Err(_) => (1..=3.min(bytes.len())).find(|count| is_beginning(&bytes[bytes.len() - count..])).unwrap_or(0),
        Ok(_) => 0,
    }
}

fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// A stderr that is gone is no error: there is nobody to tell.
fn write_to(stream: PrintedTo, bytes: &[u8]) -> io::Result<()> {
    match stream {
        PrintedTo::Stdout => {
            let mut stdout = io::stdout();
            stdout.write_all(bytes)?;
            stdout.flush()
        }
        PrintedTo::Stderr => {
            let _ = io::stderr().write_all(bytes);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_comes_in_two_pieces_is_held_back() {
        let text = "aü☃".as_bytes();
        assert_eq!([2, 3, 4, 5, 6].map(|end| begun_character(&text[..end])), [1, 0, 1, 2, 0]);
        assert_eq!(begun_character(b"\xff\xc3"), 1);
        assert_eq!(begun_character(b"\xff\xff"), 0);
    }
}
