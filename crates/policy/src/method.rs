//! HTTP methods: the syntax of one method, and the set that a rule applies to.

use std::collections::BTreeSet;
use std::fmt;

use super::quote::brief;

const MAX_METHOD_BYTES: usize = 32;
const MAX_METHODS: usize = 16;
/// A tunnel, and two methods that echo a request's headers, including secrets. No rule can allow them.
const NEVER: [&str; 3] = ["CONNECT", "TRACE", "TRACK"];

/// Why a text is not a valid method or list of methods.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMethod {
    #[error("`{0}` is not a method")]
    Token(String),
    #[error("methods are case-sensitive: `{0}` is not `{upper}`", upper = .0.to_ascii_uppercase())]
    LowerCase(String),
    #[error("the method `{0}` is never allowed")]
    Never(String),
    #[error("a rule names more than {MAX_METHODS} methods")]
    TooMany,
    #[error("a rule names no method")]
    None,
}

/// The methods of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Methods {
    /// All methods except those in `NEVER`.
    Any,
    Only(BTreeSet<String>),
}

impl Methods {
    /// GET and HEAD: the default of an allow rule without methods.
    pub fn get_and_head() -> Methods {
        Methods::Only(["GET", "HEAD"].map(str::to_owned).into())
    }

    pub(super) fn only_one(method: &str) -> Methods {
        Methods::Only([method.to_owned()].into())
    }

    /// Reads `GET,POST` or `*`.
    pub fn parse(text: &str) -> Result<Methods, BadMethod> {
        Methods::from_names(text.split(','))
    }

    /// Reads a list of methods, or `*` alone.
    pub fn from_names<'t>(methods: impl Iterator<Item = &'t str>) -> Result<Methods, BadMethod> {
        let methods: Vec<&str> = methods.take(MAX_METHODS + 1).collect();
        match methods[..] {
            [] => return Err(BadMethod::None),
            ["*"] => return Ok(Methods::Any),
            _ if methods.len() > MAX_METHODS => return Err(BadMethod::TooMany),
            _ => {}
        }
        methods
            .into_iter()
            .map(|method| check_method(method).map(|()| method.to_owned()))
            .collect::<Result<_, _>>()
            .map(Methods::Only)
    }

    pub fn contains(&self, method: &str) -> bool {
        match self {
            Methods::Any => check_method(method).is_ok(),
            Methods::Only(methods) => methods.contains(method),
        }
    }

    pub fn covers(&self, other: &Methods) -> bool {
        match (self, other) {
            (Methods::Any, _) => true,
            (Methods::Only(_), Methods::Any) => false,
            (Methods::Only(these), Methods::Only(those)) => those.is_subset(these),
        }
    }

    pub fn intersect(&self, other: &Methods) -> Option<Methods> {
        match (self, other) {
            (Methods::Any, methods) | (methods, Methods::Any) => Some(methods.clone()),
            (Methods::Only(these), Methods::Only(those)) => {
                let both: BTreeSet<String> = these & those;
                (!both.is_empty()).then_some(Methods::Only(both))
            }
        }
    }
}

impl fmt::Display for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Methods::Any => f.write_str("*"),
            Methods::Only(methods) => {
                let methods: Vec<&str> = methods.iter().map(String::as_str).collect();
                f.write_str(&methods.join(","))
            }
        }
    }
}

/// Whether a text is a method that a rule could allow: upper-case letters, digits, `-` and `_`, a letter first.
pub(super) fn check_method(method: &str) -> Result<(), BadMethod> {
    let token = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let first_is_letter = method.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    if !first_is_letter || method.len() > MAX_METHOD_BYTES || !method.bytes().all(token) {
        return Err(BadMethod::Token(brief(method)));
    }
    if method.bytes().any(|b| b.is_ascii_lowercase()) {
        return Err(BadMethod::LowerCase(method.to_owned()));
    }
    if NEVER.contains(&method) { Err(BadMethod::Never(method.to_owned())) } else { Ok(()) }
}
