//! Collects the head of a request up to its empty line, rejecting bytes that parsers could interpret differently.

use crate::error::HttpError;

/// The largest head of a request.
pub const MAX_HEAD_BYTES: usize = 64 << 10;

/// The head so far.
///
/// Invariant: what is kept has no NUL, no bare CR and no bare LF, and starts with a character of a method.
#[derive(Debug, Default)]
pub struct HeadBuffer {
    bytes: Vec<u8>,
}

impl HeadBuffer {
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes bytes up to the end of the head. Returns how many were taken, and the head once it is complete.
    pub fn push(&mut self, input: &[u8]) -> Result<(usize, Option<Vec<u8>>), HttpError> {
        for (index, &byte) in input.iter().enumerate() {
            self.check_byte(byte)?;
            if self.bytes.len() == MAX_HEAD_BYTES {
                return Err(HttpError::TooLarge { what: "the request's head", cap: MAX_HEAD_BYTES as u64 });
            }
            self.bytes.push(byte);
            if byte == b'\n' && self.bytes.ends_with(b"\r\n\r\n") {
                return Ok((index + 1, Some(std::mem::take(&mut self.bytes))));
            }
        }
        Ok((input.len(), None))
    }

    fn check_byte(&self, byte: u8) -> Result<(), HttpError> {
        let last = self.bytes.last().copied();
        match byte {
            _ if last.is_none() && !is_token(byte) => Err(HttpError::BadRequest("it does not start with a method")),
            0 => Err(HttpError::BadRequest("NUL in the head")),
            b'\n' if last != Some(b'\r') => Err(HttpError::BadRequest("a line ends in LF without CR")),
            _ if last == Some(b'\r') && byte != b'\n' => Err(HttpError::BadRequest("CR without LF in the head")),
            _ => Ok(()),
        }
    }
}

/// A character of a method or a header's name.
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
