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
    let long_name = [&[0x1f, 0x8b, 8, NAME, 0, 0, 0, 0, 0, 0][..], &[b'n'; 200_000], b"\0", &raw(&[0; 777])].concat();
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
    for body in [&b"plain text, not compressed at all"[..], b"\x1f\x8b\x08\0", b"\x1f\x8b\x07aaaaaaaaaaaaaaaaaaa", b"x"]
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
fn codings_are_named_in_any_case_and_those_that_cannot_be_counted_are_refused() {
    let all = |value: &'static str| Coding::from_header_values([value.as_bytes()].into_iter());
    assert_eq!(all("GZip, x-gzip ,Deflate,, identity").unwrap(), [Coding::Gzip, Coding::Gzip, Coding::Deflate]);
    for none in [" Identity", "utf-8", "aws-chunked", "gzip gzip"] {
        assert_eq!(all(none).unwrap(), [], "no library takes `{none}` for a compression");
    }
    for bad in ["br", "ZSTD", "gzip, br", "compress", "gzip,gzip,gzip,gzip"] {
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
        assert_eq!(String::from_utf8(countable_codings(asked.as_bytes())).unwrap(), passed);
    }
}
