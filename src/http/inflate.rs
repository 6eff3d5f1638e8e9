//! Counts what a compressed answer would become, without keeping any of it: the guest gets the compressed bytes and
//! inflates them itself.
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

use crate::http::error::HttpError;

/// More codings on top of one another than this are refused.
const MAX_CODINGS: usize = 3;
const BUFFER_BYTES: usize = 16 << 10;

/// One `Content-Encoding` that can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Deflate,
}

impl Coding {
    /// The codings of an answer, as they were applied; `identity` is none. `Err`: there is one that can't be counted.
    pub fn all<'a>(values: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Coding>, HttpError> {
        let mut codings = Vec::new();
        for name in values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii) {
            if name.is_empty() || name.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            codings.push(Coding::named(name).ok_or(HttpError::BadAnswer(
                "its `Content-Encoding` is none of gzip, deflate and identity, so what it becomes can't be bounded",
            ))?);
        }
        if codings.len() > MAX_CODINGS {
            return Err(HttpError::BadAnswer("too many codings in `Content-Encoding`"));
        }
        Ok(codings)
    }

    fn named(name: &[u8]) -> Option<Coding> {
        match name {
            name if name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"x-gzip") => Some(Coding::Gzip),
            name if name.eq_ignore_ascii_case(b"deflate") => Some(Coding::Deflate),
            _ => None,
        }
    }
}

/// What of a request's `Accept-Encoding` is passed on: the codings that can be counted, each with its weight.
pub fn acceptable(value: &[u8]) -> Vec<u8> {
    let name = |item: &[u8]| item.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii().to_vec();
    let is_known = |item: &&[u8]| {
        let name = name(item);
        name.eq_ignore_ascii_case(b"identity") || Coding::named(&name).is_some()
    };
    let kept: Vec<&[u8]> = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(is_known).collect();
    if kept.is_empty() { b"identity".to_vec() } else { kept.join(&b", "[..]) }
}

/// Counts one answer.
pub struct Inflation {
    outermost: Layer,
    cap: u64,
}

impl Inflation {
    /// Nothing to count where nothing is compressed.
    pub fn new(codings: &[Coding], cap: u64) -> Option<Inflation> {
        (!codings.is_empty()).then(|| Inflation { outermost: Layer::new(codings), cap })
    }

    /// Takes a piece of the body as it was sent.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), HttpError> {
        let cap = self.cap;
        let over = |Over| HttpError::TooLarge { what: "the answer's body, decompressed,", cap };
        self.outermost.push(piece, cap).map_err(over)
    }
}

/// The cap was passed.
#[derive(Debug)]
struct Over;

/// What is done to bytes.
enum Layer {
    Counted(u64),
    Gzip(Box<Gzip>),
    /// zlib by the book, raw by the habit of some servers: read as both.
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

    fn push(&mut self, data: &[u8], cap: u64) -> Result<(), Over> {
        match self {
            Layer::Counted(bytes) => {
                *bytes = bytes.saturating_add(data.len() as u64);
                if *bytes > cap { Err(Over) } else { Ok(()) }
            }
            Layer::Gzip(gzip) => gzip.push(data, cap),
            Layer::Deflate(readings) => readings.iter_mut().try_for_each(|stream| stream.push(data, cap).map(drop)),
        }
    }
}

/// One stream of deflate, and what becomes of what is in it.
struct Stream {
    inflate: Decompress,
    inner: Layer,
    /// It came to its end, or is none.
    over: bool,
}

impl Stream {
    fn new(zlib: bool, inner: &[Coding]) -> Stream {
        Stream { inflate: Decompress::new(zlib), inner: Layer::new(inner), over: false }
    }

    /// Gives how much of `data` belonged to it.
    fn push(&mut self, data: &[u8], cap: u64) -> Result<usize, Over> {
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

/// Members, one after the other.
///
/// ```text
///   Fixed ─▶ [ExtraLength ─▶ Extra] ─▶ [Text: name, comment] ─▶ [Skip: checksum] ─▶ Body ─▶ Skip: trailer ─▶ Fixed
///     └─ not the start of a member ─▶ Over
/// ```
struct Gzip {
    state: GzipState,
    flags: u8,
    stream: Stream,
    /// It is not the first member.
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

    fn push(&mut self, data: &[u8], cap: u64) -> Result<(), Over> {
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
                self.state = self.step(data[at]);
                at += 1;
            }
        }
        Ok(())
    }

    fn step(&mut self, byte: u8) -> GzipState {
        match self.state {
            // Some pad members with zeros.
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
            GzipState::Extra(2..) | GzipState::Checksum(2..) | GzipState::Trailer(2..) => self.one_less(),
            GzipState::Extra(_) | GzipState::Text | GzipState::Checksum(_) => self.next_field(),
            GzipState::Trailer(_) => {
                self.stream.inflate.reset(false);
                (self.stream.over, self.further) = (false, true);
                GzipState::Fixed(0)
            }
            GzipState::Body | GzipState::Over => self.state,
        }
    }

    fn one_less(&self) -> GzipState {
        match self.state {
            GzipState::Extra(left) => GzipState::Extra(left - 1),
            GzipState::Checksum(left) => GzipState::Checksum(left - 1),
            GzipState::Trailer(left) => GzipState::Trailer(left - 1),
            state => state,
        }
    }

    /// The next field that the flags announce; each is forgotten when it is begun.
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
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(data: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn raw(data: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    /// Whether it passes with this cap, in pieces of this size.
    fn passes(codings: &[Coding], body: &[u8], piece: usize, cap: u64) -> bool {
        let mut inflation = Inflation::new(codings, cap).unwrap();
        body.chunks(piece).all(|piece| inflation.push(piece).is_ok())
    }

    /// Counts exactly `length`, however it is cut.
    fn counts(codings: &[Coding], body: &[u8], length: u64) {
        for piece in [1, 2, 7, 1000, body.len().max(1)] {
            assert!(passes(codings, body, piece, length), "{codings:?} in pieces of {piece}");
            assert!(length == 0 || !passes(codings, body, piece, length - 1), "{codings:?} in pieces of {piece}");
        }
    }

    #[test]
    fn what_is_inflated_is_counted_to_the_byte() {
        let data: Vec<u8> = (0..100_000u32).flat_map(|n| (n * n / 7).to_le_bytes()).collect();
        let length = data.len() as u64;
        counts(&[Coding::Gzip], &gzip(&data), length);
        counts(&[Coding::Deflate], &zlib(&data), length);
        counts(&[Coding::Deflate], &raw(&data), length);
        counts(&[Coding::Deflate, Coding::Gzip], &gzip(&zlib(&data)), length);
        counts(&[Coding::Gzip, Coding::Deflate], &raw(&gzip(&data)), length);
        counts(&[Coding::Gzip, Coding::Gzip, Coding::Gzip], &gzip(&gzip(&gzip(&data))), length);
        counts(&[Coding::Gzip], &gzip(b""), 0);
    }

    #[test]
    fn members_add_up_and_headers_may_have_every_field() {
        let mut body = vec![0x1f, 0x8b, 8, EXTRA | NAME | COMMENT | CHECKSUM, 1, 2, 3, 4, 0, 3, 5, 0];
        body.extend(b"extraa name of any length\0and a comment\0\x01\x02");
        body.extend(raw(&[b'x'; 5000]));
        body.extend([9; 8]); // a checksum that is wrong
        body.extend([0; 20]);
        body.extend(gzip(&[b'y'; 7000]));
        body.extend(b"anything else");
        body.extend(gzip(&[b'z'; 9000]));
        counts(&[Coding::Gzip], &body, 12_000);
        let long_name =
            [&[0x1f, 0x8b, 8, NAME, 0, 0, 0, 0, 0, 0][..], &[b'n'; 200_000], b"\0", &raw(&[0; 777])].concat();
        counts(&[Coding::Gzip], &long_name, 777);
    }

    #[test]
    fn a_bomb_ends_soon_after_the_cap() {
        let bomb = gzip(&vec![0; 64 << 20]);
        assert!(bomb.len() < 100_000);
        let started = std::time::Instant::now();
        assert!(!passes(&[Coding::Gzip], &bomb, bomb.len(), 1 << 20));
        // 64 MiB in 64 KiB in some 200 bytes; inside, it would go on for long.
        let nested = gzip(&gzip(&bomb));
        assert!(!passes(&[Coding::Gzip; 3], &nested, nested.len(), 1 << 20));
        assert!(started.elapsed().as_secs() < 5);
    }

    /// `78 9c` starts zlib, and could start raw deflate as well: a guest's library may come to read it so.
    #[test]
    fn raw_deflate_that_looks_like_zlib_is_counted() {
        // A stored block whose padding bits spell `0x78`: LEN is 0x009c.. and its complement, then a bomb.
        let mut body = vec![0x78, 0x9c, 0x00, 0x63, 0xff];
        body.extend([b's'; 0x9c]);
        body.extend(raw(&vec![0; 1 << 20]));
        counts(&[Coding::Deflate], &body, (1 << 20) + 0x9c);
    }

    #[test]
    fn what_is_no_compressed_data_is_passed_on() {
        for body in
            [&b"plain text, not compressed at all"[..], b"\x1f\x8b\x08\0", b"\x1f\x8b\x07aaaaaaaaaaaaaaaaaaa", b"x"]
        {
            assert!(passes(&[Coding::Gzip], body, 3, 0), "{body:?}");
        }
        let mut damaged = gzip(&[b'a'; 100_000]);
        damaged.truncate(damaged.len() / 2);
        assert!(passes(&[Coding::Gzip], &damaged, 10, 100_000));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(body in proptest::collection::vec(any::<u8>(), 0..2000), piece in 1usize..500) {
            for codings in [&[Coding::Gzip][..], &[Coding::Deflate], &[Coding::Deflate, Coding::Gzip, Coding::Deflate]] {
                passes(codings, &body, piece, 1 << 20);
            }
            let member = [&[0x1f, 0x8b, 8, body.first().copied().unwrap_or(0), 0, 0, 0, 0, 0, 3][..], &body].concat();
            passes(&[Coding::Gzip], &member, piece, 1 << 20);
        }
    }

    #[test]
    fn codings_are_named_in_any_case_and_unknown_ones_are_refused() {
        let all = |value: &'static str| Coding::all([value.as_bytes()].into_iter());
        assert_eq!(all("GZip, x-gzip ,Deflate,, identity").unwrap(), [Coding::Gzip, Coding::Gzip, Coding::Deflate]);
        assert_eq!(all(" Identity").unwrap(), []);
        for bad in ["br", "zstd", "gzip, br", "compress", "gzip gzip", "gzip,gzip,gzip,gzip"] {
            assert!(all(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_what_can_be_counted_is_accepted() {
        for (asked, passed) in [
            ("gzip, deflate", "gzip, deflate"),
            ("gzip, deflate, br, zstd", "gzip, deflate"),
            ("br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip;q=0.8"),
            ("zstd", "identity"),
            ("*", "identity"),
            ("", "identity"),
            ("identity", "identity"),
        ] {
            assert_eq!(String::from_utf8(acceptable(asked.as_bytes())).unwrap(), passed);
        }
    }
}
