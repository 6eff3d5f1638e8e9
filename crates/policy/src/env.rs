//! Environment variables by name: which ones a cell sees.
//!
//! `NAME` takes the host's value, `NAME=VALUE` gives one. Nothing else of the host's environment is visible.

use std::fmt;

use super::quote::brief;

const MAX_NAME_BYTES: usize = 128;
const MAX_VALUE_BYTES: usize = 32 << 10;

/// Why a text is no `NAME[=VALUE]`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEnv {
    #[error("`{0}` is not the name of an environment variable (letters, digits and `_`, up to {MAX_NAME_BYTES})")]
    Name(String),
    #[error("`{0}` has a fixed value in every cell")]
    Fixed(String),
    #[error("the value of `{0}` is longer than {MAX_VALUE_BYTES} bytes, or has a NUL")]
    Value(String),
}

/// Variables that the cell sets itself, or that configure the interpreter.
const FIXED: [&str; 5] = ["HOME", "TMPDIR", "TZ", "LANG", "PATH"];
const FIXED_PREFIXES: [&str; 2] = ["LC_", "PYTHON"];

/// Whether a text can be the name of a variable.
pub(super) fn check_name(name: &str) -> Result<(), BadEnv> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let starts_well = name.bytes().next().is_some_and(|b| fine(b) && !b.is_ascii_digit());
    if starts_well && name.len() <= MAX_NAME_BYTES && name.bytes().all(fine) {
        Ok(())
    } else {
        Err(BadEnv::Name(brief(name)))
    }
}

/// Whether a name can be granted.
pub(super) fn check_grantable(name: &str) -> Result<(), BadEnv> {
    check_name(name)?;
    if FIXED.contains(&name) || FIXED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return Err(BadEnv::Fixed(name.to_owned()));
    }
    Ok(())
}

/// A variable that a cell sees.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EnvGrant {
    name: String,
    value: Option<String>,
}

impl EnvGrant {
    pub fn parse(text: &str) -> Result<EnvGrant, BadEnv> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        check_grantable(name)?;
        if value.is_some_and(|value| value.len() > MAX_VALUE_BYTES || value.contains('\0')) {
            return Err(BadEnv::Value(name.to_owned()));
        }
        Ok(EnvGrant { name: name.to_owned(), value: value.map(str::to_owned) })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The given value; `None` means the host's own value is passed.
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }
}

/// Shows only the name, because values must not end up in logs.
impl fmt::Display for EnvGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for EnvGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvGrant({}{})", self.name, if self.value.is_some() { "=…" } else { "" })
    }
}
