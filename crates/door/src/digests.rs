//! Hashing that the host does for cells, with the processor's own instructions: single blocks of SHA-1 and SHA-2, and rounds of
//! PBKDF2. Pure functions of what they are given, each of bounded work; it gives no authority and keeps nothing.

use sha1::Sha1;
use sha2::digest::generic_array::GenericArray;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// The most rounds of one frame: below a few milliseconds, so that a deadline between two of them is met in time.
pub const MAX_ROUNDS: u32 = 2048;

/// What a block costs, in Wasmtime's fuel: about what the runtime's own code burned for it.
pub mod fuel {
    /// Of SHA-1.
    pub const SHA1: u64 = 3_000;
    /// Of SHA-224 and SHA-256.
    pub const SHA256: u64 = 4_900;
    /// Of SHA-384 and SHA-512.
    pub const SHA512: u64 = 6_600;
}

/// Takes one block into a state of SHA-1: words, little-endian.
pub fn sha1_block(state: &mut [u8; 20], block: &[u8; 64]) {
    let mut words = std::array::from_fn(|at| u32::from_le_bytes(word(state, at)));
    sha1::compress(&mut words, &[GenericArray::from(*block)]);
    put_words(state, words.map(u32::to_le_bytes));
}

/// The same of SHA-224 and SHA-256.
pub fn sha256_block(state: &mut [u8; 32], block: &[u8; 64]) {
    let mut words = std::array::from_fn(|at| u32::from_le_bytes(word(state, at)));
    sha2::compress256(&mut words, &[GenericArray::from(*block)]);
    put_words(state, words.map(u32::to_le_bytes));
}

/// The same of SHA-384 and SHA-512.
pub fn sha512_block(state: &mut [u8; 64], block: &[u8; 128]) {
    let mut words = std::array::from_fn(|at| u64::from_le_bytes(word(state, at)));
    sha2::compress512(&mut words, &[GenericArray::from(*block)]);
    put_words(state, words.map(u64::to_le_bytes));
}

fn word<const N: usize>(state: &[u8], at: usize) -> [u8; N] {
    state[at * N..].first_chunk().copied().unwrap_or([0; N])
}

fn put_words<const N: usize, const M: usize>(state: &mut [u8], words: [[u8; N]; M]) {
    state.chunks_exact_mut(N).zip(words).for_each(|(place, word)| place.copy_from_slice(&word));
}

/// Answers a frame: `u8` hash function, `u32` rounds, a key filled up to a block, and what is to be hashed with it. Each round is
/// an HMAC of what the one before gave. The answer is the last of them, and the exclusive or of them all; and what that costs in fuel.
pub(crate) fn answer_rounds(payload: &[u8]) -> Option<(Vec<u8>, u64)> {
    let (&[function, ref rounds @ ..], rest) = payload.split_first_chunk::<5>()?;
    let rounds = u32::from_le_bytes(*rounds);
    if !(1..=MAX_ROUNDS).contains(&rounds) {
        return None;
    }
    match function {
        1 => keyed_rounds::<Sha1, 64>(rest, rounds, fuel::SHA1),
        2 => keyed_rounds::<Sha224, 64>(rest, rounds, fuel::SHA256),
        3 => keyed_rounds::<Sha256, 64>(rest, rounds, fuel::SHA256),
        4 => keyed_rounds::<Sha384, 128>(rest, rounds, fuel::SHA512),
        5 => keyed_rounds::<Sha512, 128>(rest, rounds, fuel::SHA512),
        _ => None,
    }
}

fn keyed_rounds<D: Digest + Clone, const BLOCK: usize>(
    key_and_last: &[u8],
    rounds: u32,
    fuel: u64,
) -> Option<(Vec<u8>, u64)> {
    let (key, last) = key_and_last.split_first_chunk::<BLOCK>()?;
    if last.len() != <D as Digest>::output_size() {
        return None;
    }
    let [inner, outer] = [0x36, 0x5c].map(|pad| {
        let mut keyed = D::new();
        keyed.update(key.map(|byte| byte ^ pad));
        keyed
    });
    let (mut last, mut all) = (last.to_vec(), vec![0; last.len()]);
    for _ in 0..rounds {
        let (mut message, mut digest) = (inner.clone(), outer.clone());
        message.update(&last);
        digest.update(message.finalize());
        last.copy_from_slice(&digest.finalize());
        all.iter_mut().zip(&last).for_each(|(all, byte)| *all ^= byte);
    }
    last.extend_from_slice(&all);
    // A round is two blocks, and the key two more.
    Some((last, 2 * (u64::from(rounds) + 1) * fuel))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(message: &[u8]) -> [u8; 64] {
        let mut block = [0; 64];
        block[..message.len()].copy_from_slice(message);
        block[message.len()] = 0x80;
        block[56..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());
        block
    }

    /// RFC 3174 and FIPS 180-2: the digests of "abc".
    #[test]
    fn a_block_gives_the_published_digests() {
        let initial = [0x67452301_u32, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
        let mut state: [u8; 20] = initial.map(u32::to_le_bytes).concat().try_into().unwrap();
        sha1_block(&mut state, &padded(b"abc"));
        assert_eq!(state[..4], 0xa9993e36_u32.to_le_bytes());
        assert_eq!(state[16..], 0x9cd0d89d_u32.to_le_bytes());
        let initial =
            [0x6a09e667_u32, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
        let mut state: [u8; 32] = initial.map(u32::to_le_bytes).concat().try_into().unwrap();
        sha256_block(&mut state, &padded(b"abc"));
        assert_eq!(state[..4], 0xba7816bf_u32.to_le_bytes());
        assert_eq!(state[28..], 0xf20015ad_u32.to_le_bytes());
    }

    fn frame(function: u8, rounds: u32, rest: &[u8]) -> Vec<u8> {
        [&[function][..], &rounds.to_le_bytes(), rest].concat()
    }

    /// Against HMAC as RFC 2104 writes it, of the hash function itself.
    #[test]
    fn a_round_is_an_hmac_and_rounds_follow_each_other() {
        let mut key = [0; 64];
        key[..4].copy_from_slice(b"Jefe");
        let hmac = |message: &[u8]| {
            let inner = Sha256::digest([&key.map(|byte| byte ^ 0x36)[..], message].concat());
            Sha256::digest([&key.map(|byte| byte ^ 0x5c)[..], &inner].concat()).to_vec()
        };
        let start = [7; 32];
        let (first, second) = (hmac(&start), hmac(&hmac(&start)));
        let both: Vec<u8> = first.iter().zip(&second).map(|(one, other)| one ^ other).collect();
        let rest = [&key[..], &start].concat();
        assert_eq!(answer_rounds(&frame(3, 1, &rest)).unwrap().0, [&first[..], &first].concat());
        assert_eq!(answer_rounds(&frame(3, 2, &rest)).unwrap().0, [second, both].concat());
    }

    #[test]
    fn frames_of_another_length_function_or_number_are_not_answered() {
        let rest = [0; 96];
        assert!(answer_rounds(&frame(3, MAX_ROUNDS, &rest)).is_some());
        for (function, rounds, rest) in [
            (3, 0, &rest[..]),
            (3, MAX_ROUNDS + 1, &rest),
            (3, u32::MAX, &rest),
            (0, 1, &rest),
            (6, 1, &rest),
            (5, 1, &rest),
            (3, 1, &rest[1..]),
            (3, 1, &[]),
            (3, 1, &[0; 97]),
        ] {
            assert_eq!(answer_rounds(&frame(function, rounds, rest)), None);
        }
        for length in 0..5 {
            assert_eq!(answer_rounds(&[1, 1, 0, 0, 0][..length]), None);
        }
    }
}
