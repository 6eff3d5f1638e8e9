//! Measures the decompressed size of a response without keeping the data: the guest gets the compressed bytes and
//! decompresses them itself.
//!
//! ```text
//!   Content-Encoding: deflate, gzip      bytes ─▶ gunzip ─┬▶ zlib ─▶ counted
//!                                                         └▶ raw  ─▶ counted     the larger counts
//! ```
//!
//! Nothing here is stricter than the decoders of a guest could be: checksums are not looked at, members of gzip follow one
//! another, `deflate` is read in both ways. Where the data breaks off or is none, counting stops; the guest's library
//! makes an error of that. Memory: some 50 kB for each reading, whatever arrives.

use flate2::{Decompress, FlushDecompress, Status};

use crate::error::HttpError;

/// Compressing codings that can't be measured here. Any other unknown name is ignored by the guest's libraries too (some
/// servers write `utf-8` there), so its body is passed on.
const UNCOUNTED: [&str; 12] =
    ["br", "brotli", "dcb", "dcz", "zstd", "compress", "x-compress", "bzip2", "x-bzip2", "xz", "lzma", "lz4"];
/// The most nested codings.
const MAX_CODINGS: usize = 3;
const BUFFER_BYTES: usize = 16 << 10;

/// A `Content-Encoding` that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Deflate,
}

impl Coding {
    /// A response's compressing codings, in the order in which they were applied. `Err` if one can't be measured.
    pub fn from_header_values<'a>(values: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Coding>, HttpError> {
        let mut codings = Vec::new();
        for name in values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii) {
            if UNCOUNTED.iter().any(|uncounted| name.eq_ignore_ascii_case(uncounted.as_bytes())) {
                return Err(HttpError::BadAnswer(
                    "its `Content-Encoding` compresses, and is neither gzip nor deflate, so what it becomes can't be bounded",
                ));
            }
            codings.extend(Coding::from_name(name));
        }
        if codings.len() > MAX_CODINGS {
            return Err(HttpError::BadAnswer("too many codings in `Content-Encoding`"));
        }
        Ok(codings)
    }

    fn from_name(name: &[u8]) -> Option<Coding> {
        match name {
            name if name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip") => Some(Coding::Gzip),
            name if name.eq_ignore_ascii_case(b"deflate") => Some(Coding::Deflate),
            _ => None,
        }
    }
}

/// Filters a request's `Accept-Encoding` to the codings that can be measured, each with its weight.
pub fn countable_codings(value: &[u8]) -> Vec<u8> {
    let name = |item: &[u8]| item.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii().to_vec();
    let is_known = |item: &&[u8]| {
        let name = name(item);
        name.eq_ignore_ascii_case(b"identity") || Coding::from_name(&name).is_some()
    };
    let kept: Vec<&[u8]> = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(is_known).collect();
    if kept.is_empty() { b"identity".to_vec() } else { kept.join(&b", "[..]) }
}

/// Measures one response.
pub struct Inflation {
    outermost: Layer,
    cap: u64,
}

impl Inflation {
    /// `None` if nothing is compressed.
    pub fn new(codings: &[Coding], cap: u64) -> Option<Inflation> {
        (!codings.is_empty()).then(|| Inflation { outermost: Layer::new(codings), cap })
    }

    /// Takes a piece of the body as it was sent.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), HttpError> {
        let cap = self.cap;
        let over = |CapExceeded| HttpError::TooLarge { what: "the answer's body, decompressed,", cap };
        self.outermost.push(piece, cap).map_err(over)
    }
}

/// The decompressed size exceeds the cap.
#[derive(Debug)]
struct CapExceeded;

/// One layer of decoding.
enum Layer {
    Counted(u64),
    Gzip(Box<Gzip>),
    /// Decoded both as zlib, per the standard, and as raw deflate, which some servers send.
    Deflate(Box<[Stream; 2]>),
}

impl Layer {
    fn new(codings: &[Coding]) -> Layer {
        match codings.split_last() {
            None => Layer::Counted(0),
            Some((Coding::Gzip, inner)) => Layer::Gzip(Box::new(Gzip::new(inner))),
            Some((Coding::Deflate, inner)) => {
                Layer::Deflate(Box::new([Stream::new(true, inner), Stream::new(false, inner)]))
            }
        }
    }

    fn push(&mut self, data: &[u8], cap: u64) -> Result<(), CapExceeded> {
        match self {
            Layer::Counted(bytes) => {
                *bytes = bytes.saturating_add(data.len() as u64);
                if *bytes > cap { Err(CapExceeded) } else { Ok(()) }
            }
            Layer::Gzip(gzip) => gzip.push(data, cap),
            Layer::Deflate(readings) => readings.iter_mut().try_for_each(|stream| stream.push(data, cap).map(drop)),
        }
    }
}

/// One deflate stream, and the layer that its output goes to.
struct Stream {
    inflate: Decompress,
    inner: Layer,
    /// The stream has ended, or is invalid.
    over: bool,
}

impl Stream {
    fn new(zlib: bool, inner: &[Coding]) -> Stream {
        Stream { inflate: Decompress::new(zlib), inner: Layer::new(inner), over: false }
    }

    /// Returns how much of `data` belonged to the stream.
    fn push(&mut self, data: &[u8], cap: u64) -> Result<usize, CapExceeded> {
        let (mut taken, mut buffer) = (0, [0; BUFFER_BYTES]);
        while !self.over {
            let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(&data[taken..], &mut buffer, FlushDecompress::None);
            let (read, made) = (self.inflate.total_in() - before_in, self.inflate.total_out() - before_out);
            taken += usize::try_from(read).unwrap_or(0).min(data.len() - taken);
            let made = usize::try_from(made).unwrap_or(0).min(BUFFER_BYTES);
            self.over = !matches!(status, Ok(Status::Ok | Status::BufError));
            self.inner.push(&buffer[..made], cap)?;
            if made < BUFFER_BYTES && (taken == data.len() || read == 0) {
                break;
            }
        }
        Ok(taken)
    }
}

/// A sequence of gzip members.
///
/// ```text
///   Fixed ─▶ [ExtraLength ─▶ Extra] ─▶ [Text: name, comment] ─▶ [Skip: checksum] ─▶ Body ─▶ Skip: trailer ─▶ Fixed
///     └─ not the start of a member ─▶ Over
/// ```
struct Gzip {
    state: GzipState,
    flags: u8,
    stream: Stream,
    /// At least one member was read.
    further: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GzipState {
    /// The ten bytes that every member starts with: how many were seen.
    Fixed(u8),
    ExtraLength(Option<u8>),
    Extra(u16),
    Text,
    Checksum(u8),
    Body,
    Trailer(u8),
    Over,
}

const CHECKSUM: u8 = 0x02;
const EXTRA: u8 = 0x04;
const NAME: u8 = 0x08;
const COMMENT: u8 = 0x10;

impl Gzip {
    fn new(inner: &[Coding]) -> Gzip {
        Gzip { state: GzipState::Fixed(0), flags: 0, stream: Stream::new(false, inner), further: false }
    }

    fn push(&mut self, data: &[u8], cap: u64) -> Result<(), CapExceeded> {
        let mut at = 0;
        while at < data.len() && self.state != GzipState::Over {
            if self.state == GzipState::Body {
                at += self.stream.push(&data[at..], cap)?;
                if self.stream.over {
                    self.state = GzipState::Trailer(8);
                } else if at < data.len() {
                    self.state = GzipState::Over;
                }
            } else {
                self.state = self.next_state(data[at]);
                at += 1;
            }
        }
        Ok(())
    }

    fn next_state(&mut self, byte: u8) -> GzipState {
        match self.state {
            // Some encoders pad between members with zeros.
            GzipState::Fixed(0) if byte == 0 && self.further => self.state,
            GzipState::Fixed(at) => {
                let fits = match at {
                    0 => byte == 0x1f,
                    1 => byte == 0x8b,
                    2 => byte == 8,
                    _ => true,
                };
                if at == 3 {
                    self.flags = byte;
                }
                match at {
                    _ if !fits => GzipState::Over,
                    9 => self.next_field(),
                    at => GzipState::Fixed(at + 1),
                }
            }
            GzipState::ExtraLength(None) => GzipState::ExtraLength(Some(byte)),
            GzipState::ExtraLength(Some(low)) => match u16::from_le_bytes([low, byte]) {
                0 => self.next_field(),
                length => GzipState::Extra(length),
            },
            GzipState::Text if byte != 0 => GzipState::Text,
            GzipState::Extra(2..) | GzipState::Checksum(2..) | GzipState::Trailer(2..) => self.count_down(),
            GzipState::Extra(_) | GzipState::Text | GzipState::Checksum(_) => self.next_field(),
            GzipState::Trailer(_) => {
                self.stream.inflate.reset(false);
                (self.stream.over, self.further) = (false, true);
                GzipState::Fixed(0)
            }
            GzipState::Body | GzipState::Over => self.state,
        }
    }

    fn count_down(&self) -> GzipState {
        match self.state {
            GzipState::Extra(left) => GzipState::Extra(left - 1),
            GzipState::Checksum(left) => GzipState::Checksum(left - 1),
            GzipState::Trailer(left) => GzipState::Trailer(left - 1),
            state => state,
        }
    }

    /// The next header field that the flags announce. Its flag is cleared, so each field is visited once.
    fn next_field(&mut self) -> GzipState {
        for (flag, state) in [
            (EXTRA, GzipState::ExtraLength(None)),
            (NAME, GzipState::Text),
            (COMMENT, GzipState::Text),
            (CHECKSUM, GzipState::Checksum(2)),
        ] {
            if self.flags & flag != 0 {
                self.flags &= !flag;
                return state;
            }
        }
        GzipState::Body
    }
}

#[cfg(test)]
mod tests;
