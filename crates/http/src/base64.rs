//! Base64, as far as credentials need it: both alphabets, strict padding when decoding.

pub const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Whether this is a character of either alphabet.
pub fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The characters for `data`, without padding.
pub fn encode_bare(data: &[u8], alphabet: &[u8; 64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len().div_ceil(3) * 4);
    for group in data.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            out.push(alphabet[(bits >> (18 - 6 * place) & 63) as usize]);
        }
    }
    out
}

/// The standard alphabet, padded.
pub fn encode(data: &[u8]) -> Vec<u8> {
    let mut out = encode_bare(data, STANDARD);
    out.resize(out.len().next_multiple_of(4), b'=');
    out
}

/// The standard alphabet, with or without padding.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let bare = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    if bare.len() % 4 == 1 || (bare.len() != text.len() && !text.len().is_multiple_of(4)) {
        return None;
    }
    let mut out = Vec::with_capacity(bare.len() / 4 * 3 + 2);
    for group in bare.chunks(4) {
        let mut bits = 0u32;
        for &byte in group {
            bits = bits << 6 | u32::try_from(STANDARD.iter().position(|&known| known == byte)?).ok()?;
        }
        let bytes = (bits << (6 * (4 - group.len()))).to_be_bytes();
        out.extend_from_slice(&bytes[1..group.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        for (plain, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("?>~", "Pz5+")]
        {
            assert_eq!(encode(plain.as_bytes()), text.as_bytes());
            assert_eq!(decode(text.as_bytes()).unwrap(), plain.as_bytes());
        }
        assert_eq!(decode(b"Zg").unwrap(), b"f");
        for bad in ["Z", "Z===", "Zg=", "Zm9v=", "Zm9 v", "Zg==Zg=="] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }
}
