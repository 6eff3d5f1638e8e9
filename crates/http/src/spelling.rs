//! The ways in which a text can encode one character: literally, escaped for URLs, JSON, HTML, mail or source code, in
//! hexadecimal, in UTF-16 or UTF-32, or in Latin-1.
//!
//! The running time depends only on the text, which its sender knows; no secret is involved here.

/// The longest spelling, except for HTML references with more digits than [`MAX_HTML_DIGITS`].
pub const LONGEST: usize = 12;
/// The number of decimal digits of the highest code point. Any further digits are leading zeros.
pub const MAX_HTML_DIGITS: usize = 7;

/// Calls `found` with the UTF-8 of each character, or the single byte, that a text may begin with, and its length there.
pub fn each_spelling(text: &[u8], found: &mut impl FnMut(&[u8], usize)) {
    let Some(&first) = text.first() else { return };
    found(&[first], 1);
    match first {
        b'+' => found(b" ", 1),
        b'%' | b'=' => escaped_byte(text, found),
        b'\\' => backslash_escape(text, found),
        b'&' => html_reference(text, found),
        0x80.. => latin1_byte(text, found),
        _ => {}
    }
    wide_encodings(text, found);
}

/// Whether a text begins with a number of HTML that has so many digits that it is searched for only in whole texts.
pub fn is_overlong(text: &[u8]) -> bool {
    let Some((digits, _)) = html_digits(text) else { return false };
    digits.first() == Some(&b'0') && digits.len() > MAX_HTML_DIGITS
}

fn emit_character(c: char, length: usize, found: &mut impl FnMut(&[u8], usize)) {
    found(c.encode_utf8(&mut [0; 4]).as_bytes(), length);
    // Software that mistakes UTF-8 for Latin-1 escapes each byte as a character.
    if let (0x80..=0xff, Ok(byte)) = (u32::from(c), u8::try_from(u32::from(c))) {
        found(&[byte], length);
    }
}

/// An escaped byte, which may also be a Latin-1 character.
fn emit_byte(byte: u8, length: usize, found: &mut impl FnMut(&[u8], usize)) {
    found(&[byte], length);
    if byte >= 0x80 {
        found(char::from(byte).encode_utf8(&mut [0; 4]).as_bytes(), length);
    }
}

/// A byte of Latin-1; or a character of it in UTF-8, which may stand for that byte.
fn latin1_byte(text: &[u8], found: &mut impl FnMut(&[u8], usize)) {
    found(char::from(text[0]).encode_utf8(&mut [0; 4]).as_bytes(), 1);
    if let [0xc2 | 0xc3, 0x80..=0xbf, ..] = text {
        found(&[text[0] << 6 | text[1] & 0x3f], 2);
    }
}

/// `%41`, `=41`, and `%u0041` as old scripts write it.
fn escaped_byte(text: &[u8], found: &mut impl FnMut(&[u8], usize)) {
    if let Some(byte) = hex_byte(&text[1..]) {
        emit_byte(byte, 3, found);
    }
    if text.starts_with(b"%u") {
        utf16_escape(text, found);
    }
}

/// The single-character escapes of JSON and common programming languages.
const LETTERS: [(u8, char); 9] = [
    (b'/', '/'),
    (b'b', '\u{8}'),
    (b'f', '\u{c}'),
    (b'n', '\n'),
    (b'r', '\r'),
    (b't', '\t'),
    (b'"', '"'),
    (b'\'', '\''),
    (b'\\', '\\'),
];

fn backslash_escape(text: &[u8], found: &mut impl FnMut(&[u8], usize)) {
    let Some(&letter) = text.get(1) else { return };
    match letter {
        b'u' if text.get(2) == Some(&b'{') => {
            let digits = &text[3..text.len().min(LONGEST)];
            let Some(end) = digits.iter().position(|&byte| byte == b'}') else { return };
            parse_char_code(&digits[..end], 16).into_iter().for_each(|c| emit_character(c, end + 4, found));
        }
        b'u' => utf16_escape(text, found),
        b'U' => {
            let digits = text.get(2..10).unwrap_or_default();
            parse_char_code(digits, 16).into_iter().for_each(|c| emit_character(c, 10, found));
        }
        b'x' => hex_byte(&text[2..]).into_iter().for_each(|byte| emit_byte(byte, 4, found)),
        b'0'..=b'3' => {
            let digits = text.get(1..4).unwrap_or_default();
            let byte = parse_char_code(digits, 8).and_then(|c| u8::try_from(u32::from(c)).ok());
            byte.into_iter().for_each(|byte| emit_byte(byte, 4, found));
        }
        letter => {
            let escaped = LETTERS.iter().find(|(known, _)| *known == letter);
            escaped.into_iter().for_each(|&(_, c)| emit_character(c, 2, found));
        }
    }
}

/// `\u0041`, or two of these for one character.
fn utf16_escape(text: &[u8], found: &mut impl FnMut(&[u8], usize)) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6).filter(|unit| unit[..2] == text[..2])?;
        digits[2..].iter().try_fold(0u16, |unit, &digit| Some(unit << 4 | u16::from(hex_digit(digit)?)))
    };
    let units = [0, 6].into_iter().map_while(unit);
    if let Some(Ok(c)) = char::decode_utf16(units).next() {
        emit_character(c, c.len_utf16() * 6, found);
    }
}

/// HTML's named references for ASCII characters. The first four are also recognized without their `;`.
const NAMES: [(&str, char); 38] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("sol", '/'),
    ("bsol", '\\'),
    ("plus", '+'),
    ("equals", '='),
    ("num", '#'),
    ("percnt", '%'),
    ("dollar", '$'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("period", '.'),
    ("colon", ':'),
    ("semi", ';'),
    ("comma", ','),
    ("excl", '!'),
    ("quest", '?'),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("rcub", '}'),
    ("rbrace", '}'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("midast", '*'),
    ("Hat", '^'),
    ("grave", '`'),
    ("verbar", '|'),
    ("vert", '|'),
    ("nbsp", '\u{a0}'),
];
const NAMES_WITHOUT_END: usize = 4;

fn html_reference(text: &[u8], found: &mut impl FnMut(&[u8], usize)) {
    if let Some((digits, radix)) = html_digits(text) {
        let start = if radix == 16 { 3 } else { 2 };
        let end = start + digits.len();
        let significant = digits.iter().position(|&digit| digit != b'0').map_or(&[][..], |at| &digits[at..]);
        let length = end + usize::from(text.get(end) == Some(&b';'));
        parse_char_code(significant, radix).into_iter().for_each(|c| emit_character(c, length, found));
        return;
    }
    for (at, (name, c)) in NAMES.iter().enumerate() {
        let Some(after) = text[1..].strip_prefix(name.as_bytes()) else { continue };
        match after.first() {
            Some(b';') => emit_character(*c, name.len() + 2, found),
            _ if at < NAMES_WITHOUT_END => emit_character(*c, name.len() + 1, found),
            _ => {}
        }
    }
}

/// The digits of `&#65` or `&#x41`, and their radix.
fn html_digits(text: &[u8]) -> Option<(&[u8], u32)> {
    let (digits, radix) = match text.strip_prefix(b"&#")? {
        [b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    let length = digits.iter().take_while(|&&digit| char::from(digit).is_digit(radix)).count();
    (length > 0).then_some((&digits[..length], radix))
}

/// UTF-16 and UTF-32 of either order. In UTF-16 only characters below U+0800: other pairs of bytes are all over any text.
fn wide_encodings(text: &[u8], found: &mut impl FnMut(&[u8], usize)) {
    let &[first, second, ..] = text else { return };
    for [high, low] in [[first, second], [second, first]] {
        if high < 8 {
            char::from_u32(u32::from(high) << 8 | u32::from(low)).into_iter().for_each(|c| emit_character(c, 2, found));
        }
    }
    if let Some(&unit) = text.first_chunk() {
        let orders = [u32::from_le_bytes(unit), u32::from_be_bytes(unit)];
        orders.into_iter().filter_map(char::from_u32).for_each(|c| emit_character(c, 4, found));
    }
}

fn parse_char_code(digits: &[u8], radix: u32) -> Option<char> {
    let fits = (1..=8).contains(&digits.len()) && digits.iter().all(|&digit| char::from(digit).is_digit(radix));
    let digits = std::str::from_utf8(digits).ok().filter(|_| fits)?;
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    match digits {
        &[high, low, ..] => Some(hex_digit(high)? << 4 | hex_digit(low)?),
        _ => None,
    }
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
