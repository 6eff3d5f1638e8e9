//! Tokens: who a request comes from. Only their hashes are kept, and comparing takes as long whichever it is.

use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::{Client, Rate, Rights};
use skillcell_settings::TokenSettings;

/// What a token begins with, so that scanners for leaked secrets can find it.
const PREFIX: &str = "sct_";
/// The longest text that is hashed.
const MAX_TOKEN_BYTES: usize = 256;

/// The clients that have tokens.
#[derive(Default)]
pub struct Tokens(Vec<([u8; 32], Client)>);

impl Tokens {
    /// Those of the settings.
    pub fn new(settings: &[TokenSettings]) -> Tokens {
        let number_clients = settings.iter().enumerate().map(|(place, token)| (place + 1, token));
        Tokens(number_clients.map(|(number, token)| (token.sha256, make_client(number, token))).collect())
    }

    /// Whether there are none, so that nobody needs one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The bearer of this token.
    pub fn client(&self, token: &str) -> Option<&Client> {
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let hash = hash_token(token);
        // All are looked at, the right one too.
        let mut found = u32::MAX;
        for (place, (known, _)) in self.0.iter().enumerate() {
            let is_it: Choice = known.as_slice().ct_eq(&hash);
            found.conditional_assign(&u32::try_from(place).unwrap_or(u32::MAX), is_it);
        }
        self.0.get(usize::try_from(found).ok()?).map(|(_, client)| client)
    }
}

fn make_client(number: usize, token: &TokenSettings) -> Client {
    let rights = Rights {
        skills: Some(token.skills.clone()),
        grants: token.grants.clone().map(std::sync::Arc::new),
        limits: token.limits.clone(),
        rate: token.rate.map(|(calls, per)| Rate::new(calls, per)),
        is_stranger: !token.operator,
    };
    Client::new(&token.name, number, rights)
}

fn hash_token(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// A new token, and the `sha256` for the settings. 256 random bits: no salt is needed, and guessing is hopeless.
pub fn mint_token() -> Result<(String, String), getrandom::Error> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)?;
    let token = format!("{PREFIX}{}", to_hex(&random));
    let hash = to_hex(&hash_token(&token));
    Ok((token, hash))
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_leads_to_its_client() {
        let [(one, first), (_, second)] = [mint_token().unwrap(), mint_token().unwrap()];
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("[token.a]\nsha256 = '{first}'\n[token.b]\nsha256 = '{second}'")).unwrap();
        let mut overrides = skillcell_settings::Overrides::default();
        overrides.policy = Some(file.path().to_owned());
        let settings = skillcell_settings::Settings::load_with(overrides, &|_| None).unwrap();
        let tokens = Tokens::new(&settings.tokens);
        assert_eq!(tokens.client(&one).unwrap().name.as_deref(), Some("a"));
        for wrong in ["", "sct_", &one[..one.len() - 1], &format!("{one} "), &first, &"x".repeat(5000)] {
            assert!(tokens.client(wrong).is_none(), "{wrong}");
        }
    }
}
