//! Where a body ends: by length, by chunks, or with the connection. One reader serves both directions.

/// How a body is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    None,
    Length(u64),
    Chunked,
    UntilClose,
}

impl Framing {
    /// Parses a `Content-Length`: 1 to 15 digits and nothing else.
    pub fn parse_length(text: &[u8]) -> Option<Framing> {
        let digits = (1..=15).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
        let text = std::str::from_utf8(text).ok().filter(|_| digits)?;
        text.parse().ok().map(Framing::Length)
    }
}

/// The most bytes of trailers, and of one line with a chunk's size. Trailers are read and dropped.
const MAX_TRAILER_BYTES: usize = 8 << 10;
const MAX_SIZE_LINE_BYTES: usize = 256;

/// Removes the framing of a body that arrives in arbitrary pieces.
///
/// ```text
///   Data(n) ─▶ DataEnd ─▶ Size ─▶ Data(n) …          chunked
///                          └─ 0 ─▶ Trailers ─▶ Done
///   Left(n) ─▶ Done                                   by length
///   UntilClose ─ the peer closed ─▶ Done
/// ```
#[derive(Debug)]
pub struct BodyReader {
    state: State,
    /// The line that is being read: a chunk's size, or a trailer.
    line: Vec<u8>,
    trailer_bytes: usize,
    /// Rejects chunk extensions (for requests of a guest) instead of skipping them (for responses).
    strict: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Left(u64),
    UntilClose,
    Size,
    Data(u64),
    DataEnd,
    Trailers,
    Done,
}

impl BodyReader {
    pub fn new(framing: Framing, strict: bool) -> BodyReader {
        let state = match framing {
            Framing::None | Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Left(length),
            Framing::Chunked => State::Size,
            Framing::UntilClose => State::UntilClose,
        };
        BodyReader { state, line: Vec::new(), trailer_bytes: 0, strict }
    }

    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Call when the peer has closed. Returns whether that is the proper end of the body.
    pub fn close(&mut self) -> bool {
        if self.state == State::UntilClose {
            self.state = State::Done;
        }
        self.is_done()
    }

    /// Takes bytes of `input` until the body is done, and appends the payload to `out`. Returns how many bytes were taken.
    pub fn take_all(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        let mut at = 0;
        while at < input.len() && !self.is_done() {
            at += self.take_step(&input[at..], out)?;
        }
        Ok(at)
    }

    /// Like [`BodyReader::take_all`], but stops at the end of the first non-empty chunk.
    pub fn take_piece(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        let (mut at, before) = (0, out.len());
        while at < input.len() && !self.is_done() && (out.len() == before || self.state != State::Size) {
            at += self.take_step(&input[at..], out)?;
        }
        Ok(at)
    }

    fn take_step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        match self.state {
            State::UntilClose => {
                out.extend_from_slice(input);
                Ok(input.len())
            }
            State::Left(left) | State::Data(left) => {
                let count = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                out.extend_from_slice(&input[..count]);
                self.state = match (&self.state, left - count as u64) {
                    (State::Left(_), 0) => State::Done,
                    (State::Left(_), left) => State::Left(left),
                    (_, 0) => State::DataEnd,
                    (_, left) => State::Data(left),
                };
                Ok(count)
            }
            State::Size | State::DataEnd | State::Trailers => {
                let end = input.iter().position(|&byte| byte == b'\n').map_or(input.len(), |at| at + 1);
                // A line may arrive in pieces, so it is collected until its end, within a bound.
                let cap = if self.state == State::Trailers { MAX_TRAILER_BYTES } else { MAX_SIZE_LINE_BYTES };
                if self.line.len() + end > cap {
                    return Err("a chunk's size line or the trailers are too long");
                }
                self.line.extend_from_slice(&input[..end]);
                if self.line.ends_with(b"\n") {
                    self.end_line()?;
                }
                Ok(end)
            }
            State::Done => Ok(0),
        }
    }

    fn end_line(&mut self) -> Result<(), &'static str> {
        let line = std::mem::take(&mut self.line);
        let text = line.strip_suffix(b"\r\n").ok_or("a chunk's line ends without CRLF")?;
        if text.iter().any(|&byte| byte != b'\t' && byte.is_ascii_control()) {
            return Err("control characters between chunks");
        }
        self.state = match self.state {
            State::DataEnd if text.is_empty() => State::Size,
            State::DataEnd => return Err("a chunk is longer than its size"),
            State::Size => match self.parse_chunk_size(text)? {
                0 => State::Trailers,
                size => State::Data(size),
            },
            _ if text.is_empty() => State::Done,
            _ => {
                self.trailer_bytes += line.len();
                if self.trailer_bytes > MAX_TRAILER_BYTES {
                    return Err("a chunk's size line or the trailers are too long");
                }
                State::Trailers
            }
        };
        Ok(())
    }

    fn parse_chunk_size(&self, line: &[u8]) -> Result<u64, &'static str> {
        let digits = match line.iter().position(|&byte| matches!(byte, b';' | b' ' | b'\t')) {
            Some(_) if self.strict => return Err("a chunk with an extension"),
            Some(end) => &line[..end],
            None => line,
        };
        let fits = (1..=12).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
        let text = std::str::from_utf8(digits).ok().filter(|_| fits);
        text.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or("a bad chunk size")
    }
}

/// Appends `data` as one chunk; nothing if it is empty, because an empty chunk ends the body.
pub fn write_chunk(out: &mut Vec<u8>, data: &[u8]) {
    if !data.is_empty() {
        out.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
        out.extend_from_slice(data);
        out.extend_from_slice(b"\r\n");
    }
}

/// Ends a chunked body.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(framing: Framing, strict: bool, pieces: &[&[u8]]) -> Result<(Vec<u8>, bool), &'static str> {
        let (mut reader, mut out) = (BodyReader::new(framing, strict), Vec::new());
        for piece in pieces {
            reader.take_all(piece, &mut out)?;
        }
        Ok((out, reader.is_done()))
    }

    #[test]
    fn chunks_are_joined_however_they_are_cut() {
        let text = b"5\r\nhello\r\nA\r\n, big worl\r\n1\r\nd\r\n0\r\nX-Sum: 1\r\n\r\n";
        for cut in 0..text.len() {
            let (body, done) = read(Framing::Chunked, true, &[&text[..cut], &text[cut..]]).unwrap();
            assert_eq!((body.as_slice(), done), (&b"hello, big world"[..], true));
        }
    }

    #[test]
    fn bad_chunks_are_refused() {
        for text in [
            &b"\r\n"[..],
            b"+5\r\n",
            b"0x5\r\n",
            b"5 \r\n",
            b"5;a=b\r\n",
            b"5\n",
            b"-1\r\n",
            b"fffffffffffff\r\n",
            b"5\r\nhelloX\r\n",
            b"5\r\nhello\n",
            b"g\r\n",
            b" 5\r\n",
            b"0\r\nA: b\n",
            b"0\r\nA\x01: b\r\n",
        ] {
            assert!(read(Framing::Chunked, true, &[text]).is_err(), "{:?}", String::from_utf8_lossy(text));
        }
        let endless = vec![b'1'; 1000];
        assert!(read(Framing::Chunked, false, &[&endless]).is_err());
        assert!(read(Framing::Chunked, false, &[b"0\r\n", &b"a: b\r\n".repeat(2000)]).is_err());
        assert_eq!(
            read(Framing::Chunked, false, &[b"5;a=b\r\nhello\r\n0 \r\n\r\n"]).unwrap(),
            (b"hello".to_vec(), true)
        );
    }

    #[test]
    fn lengths_are_plain_numbers() {
        assert_eq!(Framing::parse_length(b"10"), Some(Framing::Length(10)));
        for text in ["", "+1", "-1", "0x1", "1,1", "1 1", "1234567890123456", "\u{661}"] {
            assert_eq!(Framing::parse_length(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_length_leaves_the_rest_alone() {
        let (mut reader, mut out) = (BodyReader::new(Framing::Length(3), true), Vec::new());
        assert_eq!(reader.take_all(b"abcdef", &mut out), Ok(3));
        assert!(reader.is_done());
        let mut open = BodyReader::new(Framing::Length(3), true);
        assert!(!open.close());
    }
}
