//! Python objects from a long JSON text, without the copy of it that `json.loads` wants. The text is JSON already: what reads
//! oddly here (a depth, half a surrogate pair) is left to `json.loads`, whose word counts.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// How deep a text may nest to be read here.
const MAX_DEPTH: u32 = 200;

/// What `json.loads` makes of the text; `None` if that is to be asked itself.
pub fn decode_long<'py>(py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut reader = Reader { py, text, at: 0, keys: HashMap::new() };
    let Some(value) = reader.read_value(0)? else { return Ok(None) };
    reader.skip_space();
    Ok((reader.at == text.len()).then_some(value))
}

struct Reader<'py, 'a> {
    py: Python<'py>,
    text: &'a str,
    at: usize,
    /// Keys that were read: a list of like objects shares theirs, as `json.loads` has it.
    keys: HashMap<&'a str, Bound<'py, PyAny>>,
}

/// `None` leaves the whole text to `json.loads`.
type Read<T> = PyResult<Option<T>>;

impl<'py, 'a> Reader<'py, 'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Goes past the byte, if it is the next one after space.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn read_value(&mut self, depth: u32) -> Read<Bound<'py, PyAny>> {
        if depth > MAX_DEPTH {
            return Ok(None);
        }
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.read_string(),
            Some(b'[') => self.read_list(depth),
            Some(b'{') => self.read_dict(depth),
            Some(b'-' | b'0'..=b'9') => self.read_number(),
            _ => Ok(self.read_word()),
        }
    }

    fn read_word(&mut self) -> Option<Bound<'py, PyAny>> {
        let rest = &self.text[self.at..];
        let (word, value) = match () {
            () if rest.starts_with("null") => ("null", self.py.None().into_bound(self.py)),
            () if rest.starts_with("true") => ("true", PyBool::new(self.py, true).to_owned().into_any()),
            () if rest.starts_with("false") => ("false", PyBool::new(self.py, false).to_owned().into_any()),
            () => return None,
        };
        self.at += word.len();
        Some(value)
    }

    fn read_number(&mut self) -> Read<Bound<'py, PyAny>> {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let number = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        self.at += number.len();
        if number.contains(['.', 'e', 'E']) {
            return Ok(number.parse().ok().map(|float| PyFloat::new(self.py, float).into_any()));
        }
        match number.parse::<i64>() {
            Ok(short) => Ok(Some(short.into_pyobject(self.py)?.into_any())),
            Err(_) => Ok(Some(self.py.get_type::<PyInt>().call1((number,))?)),
        }
    }

    /// A string with its quotes, as it is written, and whether there is an escape in it.
    fn string_text(&mut self) -> Option<(&'a str, bool)> {
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let (mut at, mut escaped) = (start + 1, false);
        loop {
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => (at, escaped) = (at + 2, true),
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some((&self.text[start..=at], escaped))
    }

    fn read_string(&mut self) -> Read<Bound<'py, PyAny>> {
        let Some((quoted, escaped)) = self.string_text() else { return Ok(None) };
        Ok(self.make_string(quoted, escaped))
    }

    fn make_string(&self, quoted: &str, escaped: bool) -> Option<Bound<'py, PyAny>> {
        if !escaped {
            return Some(PyString::new(self.py, &quoted[1..quoted.len() - 1]).into_any());
        }
        let unescaped: String = serde_json::from_str(quoted).ok()?;
        Some(PyString::new(self.py, &unescaped).into_any())
    }

    fn read_list(&mut self, depth: u32) -> Read<Bound<'py, PyAny>> {
        self.at += 1;
        let list = PyList::empty(self.py);
        if self.take(b']') {
            return Ok(Some(list.into_any()));
        }
        loop {
            let Some(item) = self.read_value(depth + 1)? else { return Ok(None) };
            list.append(item)?;
            if self.take(b']') {
                return Ok(Some(list.into_any()));
            }
            if !self.take(b',') {
                return Ok(None);
            }
        }
    }

    fn read_dict(&mut self, depth: u32) -> Read<Bound<'py, PyAny>> {
        self.at += 1;
        let dict = PyDict::new(self.py);
        if self.take(b'}') {
            return Ok(Some(dict.into_any()));
        }
        loop {
            let Some(key) = self.read_key() else { return Ok(None) };
            if !self.take(b':') {
                return Ok(None);
            }
            let Some(value) = self.read_value(depth + 1)? else { return Ok(None) };
            dict.set_item(key, value)?;
            if self.take(b'}') {
                return Ok(Some(dict.into_any()));
            }
            if !self.take(b',') {
                return Ok(None);
            }
        }
    }

    fn read_key(&mut self) -> Option<Bound<'py, PyAny>> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return None;
        }
        let (quoted, escaped) = self.string_text()?;
        if let Some(known) = self.keys.get(quoted) {
            return Some(known.clone());
        }
        let key = self.make_string(quoted, escaped)?;
        self.keys.insert(quoted, key.clone());
        Some(key)
    }
}
