//! What a call prints, on its way from the worker to a client. The worker never waits for the client: what was not sent yet is
//! kept here, and a call prints no more than its limits of output.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use skillcell_host::call::{OnOutput, PrintedTo, Report};

/// What was printed and not sent yet.
#[derive(Default)]
pub(super) struct Printed {
    streams: Mutex<[Stream; 2]>,
    is_there: Notify,
}

#[derive(Default)]
struct Stream {
    waiting: Vec<u8>,
    sent_bytes: usize,
}

/// A piece of a stream, and the event that it is sent as.
pub(super) type Piece = (&'static str, String);

const NAMES: [&str; 2] = ["stdout", "stderr"];

impl Printed {
    /// What a call is to tell.
    pub fn listener(self: &Arc<Printed>) -> OnOutput {
        let printed = self.clone();
        OnOutput::new(move |stream, piece| {
            if !piece.is_empty() {
                printed.lock()[usize::from(stream == PrintedTo::Stderr)].waiting.extend_from_slice(piece);
                printed.is_there.notify_one();
            }
        })
    }

    /// Waits for something to be printed, and takes it, in whole characters.
    pub async fn take(&self) -> Vec<Piece> {
        loop {
            self.is_there.notified().await;
            let mut streams = self.lock();
            let texts = streams.each_mut().map(Stream::take_text);
            let pieces: Vec<Piece> = NAMES.into_iter().zip(texts).filter(|(_, text)| !text.is_empty()).collect();
            if !pieces.is_empty() {
                return pieces;
            }
        }
    }

    /// What a report has beyond what was taken: all of it from a tier that tells nothing earlier.
    pub fn rest(&self, report: &Report) -> Vec<Piece> {
        let streams = self.lock();
        let whole = [&report.stdout, &report.stderr].into_iter().zip(streams.iter());
        let rests = whole.map(|(bytes, stream)| bytes.get(stream.sent_bytes..).unwrap_or_default());
        let texts = rests.map(|rest| String::from_utf8_lossy(rest).into_owned());
        NAMES.into_iter().zip(texts).filter(|(_, text)| !text.is_empty()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, [Stream; 2]> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    fn take_text(&mut self) -> String {
        let rest = self.waiting.split_off(whole_characters(&self.waiting));
        let taken = std::mem::replace(&mut self.waiting, rest);
        self.sent_bytes += taken.len();
        String::from_utf8_lossy(&taken).into_owned()
    }
}

/// How many of the bytes there are before a character that is not there to its end.
fn whole_characters(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let is_cut = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    bytes.len() - if is_cut { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_is_sent_whole_and_what_is_none_is_not_held_back() {
        let mut stream = Stream::default();
        let euro = "€".as_bytes();
        stream.waiting.extend_from_slice(&[b"a", &euro[..2]].concat());
        assert_eq!(stream.take_text(), "a");
        assert_eq!(stream.take_text(), "");
        stream.waiting.extend_from_slice(&euro[2..]);
        assert_eq!(stream.take_text(), "€");
        stream.waiting.extend_from_slice(b"\xff\xfe");
        assert_eq!(stream.take_text(), "\u{fffd}\u{fffd}");
        assert_eq!(stream.sent_bytes, 6);
    }
}
