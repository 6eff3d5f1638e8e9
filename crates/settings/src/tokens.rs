//! The clients of a server, as `skillcell.toml` has them: each a token's hash, and what its bearer may do at most.
//!
//! ```toml
//! [token.ci]
//! sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
//! skills = ["office/*"]
//! rate = "50/s"
//! limits = { timeout = "5s" }
//! grants = { allow_http = ["GET https://api.example.org/*"] }
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::LimitOverrides;
use skillcell_policy::{BadGrant, GrantKind, Grants};

const MAX_TOKENS: usize = 1024;
const MAX_NAME_BYTES: usize = 64;

/// A token, and what its bearer may do at most.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TokenSettings {
    /// What the audit and the metrics call its bearer.
    pub name: String,
    /// SHA-256 of the token's text.
    pub sha256: [u8; 32],
    /// Ids of skills, `*` standing for any text; none if there is no list.
    pub skills: Vec<String>,
    /// What of a skill's grants its calls keep; all if it is not set, none of a kind that is not in it.
    pub grants: Option<Grants>,
    /// Tighter limits than the server's.
    pub limits: LimitOverrides,
    /// At most this many calls in this time.
    pub rate: Option<(u32, Duration)>,
    /// Its bearer may read figures of all clients, and how a refusal could be lifted.
    pub operator: bool,
}

/// What is wrong with a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadToken {
    /// More than anybody needs.
    #[error("there are more than {MAX_TOKENS} tokens")]
    TooMany,
    /// A name goes into logs and metrics.
    #[error("the token's name `{0}` is not 1 to {MAX_NAME_BYTES} letters, digits, `-`, `_` or `.`")]
    Name(String),
    /// Not 64 hexadecimal digits.
    #[error("`sha256` of the token `{0}` is not 64 hexadecimal digits")]
    Hash(String),
    /// Two names for one token.
    #[error("the tokens `{0}` and `{1}` have the same `sha256`")]
    Twice(String, String),
    /// Not a count and a unit.
    #[error("`rate` of the token `{0}` is not such as `50/s`, `100/m` or `1000/h`")]
    Rate(String),
    /// A kind of grant that there is not.
    #[error("`grants` of the token `{0}` has no `{1}`")]
    GrantKind(String, String),
    /// A grant that makes no sense.
    #[error("`grants` of the token `{token}`: {problem}")]
    Grant {
        /// The token's name.
        token: String,
        /// What is wrong.
        problem: BadGrant,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenSection {
    sha256: String,
    #[serde(default)]
    skills: Vec<String>,
    grants: Option<BTreeMap<String, Vec<String>>>,
    #[serde(default)]
    limits: LimitOverrides,
    rate: Option<String>,
    #[serde(default)]
    operator: bool,
}

/// All tokens, by name.
pub(super) fn read_all(sections: BTreeMap<String, TokenSection>) -> Result<Vec<TokenSettings>, BadToken> {
    if sections.len() > MAX_TOKENS {
        return Err(BadToken::TooMany);
    }
    let mut tokens: Vec<TokenSettings> = Vec::new();
    for (name, section) in sections {
        let token = section.into_settings(&name)?;
        if let Some(same) = tokens.iter().find(|other| other.sha256 == token.sha256) {
            return Err(BadToken::Twice(same.name.clone(), name));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

/// Whether a token may be called that.
pub fn is_token_name(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_plain)
}

impl TokenSection {
    fn into_settings(self, name: &str) -> Result<TokenSettings, BadToken> {
        if !is_token_name(name) {
            return Err(BadToken::Name(skillcell_quote::brief(name)));
        }
        let rate = self.rate.as_deref().map(|text| parse_rate(text).ok_or_else(|| BadToken::Rate(name.to_owned())));
        Ok(TokenSettings {
            sha256: parse_hash(&self.sha256).ok_or_else(|| BadToken::Hash(name.to_owned()))?,
            skills: self.skills,
            grants: self.grants.map(|lists| read_grants(name, lists)).transpose()?,
            limits: self.limits,
            rate: rate.transpose()?,
            operator: self.operator,
            name: name.to_owned(),
        })
    }
}

fn read_grants(token: &str, lists: BTreeMap<String, Vec<String>>) -> Result<Grants, BadToken> {
    let mut grants = Grants::default();
    for (key, texts) in lists {
        let kind = GrantKind::ALL.into_iter().find(|kind| kind.key() == key);
        let kind = kind.ok_or_else(|| BadToken::GrantKind(token.to_owned(), skillcell_quote::brief(&key)))?;
        for text in texts {
            grants.add(kind, &text).map_err(|problem| BadToken::Grant { token: token.to_owned(), problem })?;
        }
    }
    Ok(grants)
}

/// 64 hexadecimal digits.
fn parse_hash(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(hash)
}

/// `50/s`, `100/m`, `1000/h`.
fn parse_rate(text: &str) -> Option<(u32, Duration)> {
    let (count, unit) = text.split_once('/')?;
    let seconds = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => return None,
    };
    let count = count.parse().ok().filter(|count| *count > 0)?;
    Some((count, Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    fn read(text: &str) -> Result<Vec<TokenSettings>, BadToken> {
        read_all(toml::from_str(text).unwrap())
    }

    #[test]
    fn a_token_has_what_its_section_says() {
        let text = format!(
            "[ci]\nsha256 = '{HASH}'\nskills = ['a/*']\nrate = '50/s'\nlimits = {{ timeout = '5s' }}\n\
             [ci.grants]\nallow_http = ['GET https://a.example/']\n[other]\nsha256 = '{}'",
            HASH.replace('9', "8")
        );
        let tokens = read(&text).unwrap();
        let [ci, other] = &tokens[..] else { panic!("{tokens:?}") };
        assert_eq!((ci.name.as_str(), ci.sha256[0], ci.rate), ("ci", 0x9f, Some((50, Duration::from_secs(1)))));
        assert_eq!(ci.limits.timeout, Some(Duration::from_secs(5)));
        assert_eq!(ci.grants.as_ref().unwrap().http.allow.len(), 1);
        assert!(other.skills.is_empty() && other.grants.is_none() && !other.operator);
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for (text, problem) in [
            ("[ci]\nsha256 = 'abc'".to_owned(), "64 hexadecimal"),
            (format!("['a b']\nsha256 = '{HASH}'"), "name"),
            (format!("[a]\nsha256 = '{HASH}'\n[b]\nsha256 = '{HASH}'"), "same"),
            (format!("[a]\nsha256 = '{HASH}'\nrate = '0/s'"), "rate"),
            (format!("[a]\nsha256 = '{HASH}'\nrate = 'fast'"), "rate"),
            (format!("[a]\nsha256 = '{HASH}'\ngrants = {{ sudo = ['x'] }}"), "sudo"),
            (format!("[a]\nsha256 = '{HASH}'\ngrants = {{ mount = ['x'] }}"), "grants"),
            (format!("[a]\nsha256 = '{}é'", &HASH[..62]), "64 hexadecimal"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
