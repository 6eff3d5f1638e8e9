//! A secret to look for. In an input, `@KEY@` stands for its placeholder, which is drawn anew each time, and `@VALUE@`,
//! `@BASE64@`, `@HEX@` and `@PERCENT@` for its value in these forms.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use skillcell_http::{Scrubber, Secret, Secrets};

/// It has characters that most encodings change, and shares no end with a placeholder's beginning.
pub const VALUE: &str = "S3kr+t/V4lue%&\"é";

pub struct PlantedSecret {
    pub secrets: Arc<Secrets>,
    pub placeholder: String,
    value: String,
}

impl PlantedSecret {
    /// Granted for one host, also over plain HTTP.
    pub fn new(host: &str) -> PlantedSecret {
        PlantedSecret::with_value(host, VALUE).expect("a secret")
    }

    /// With another value; `None` where it can't be a secret's.
    pub fn with_value(host: &str, value: &str) -> Option<PlantedSecret> {
        let secret = Secret::new(format!("KEY@http://{host}").parse().ok()?, value.to_owned());
        let secrets = Arc::new(Secrets::new(vec![secret]).ok()?);
        let placeholder = secrets.placeholder("KEY")?.to_owned();
        Some(PlantedSecret { secrets, placeholder, value: value.to_owned() })
    }

    pub fn scrubber(&self) -> Scrubber {
        Scrubber::new(&self.secrets)
    }

    /// Puts the placeholder where an input names it. A guest knows no more.
    pub fn fill_key(&self, input: &[u8]) -> Vec<u8> {
        replace_markers(input, &[("@KEY@", self.placeholder.clone().into_bytes())])
    }

    /// Puts the secret's forms where an input names them.
    pub fn fill_forms(&self, input: &[u8]) -> Vec<u8> {
        let value = self.value.as_bytes();
        let forms = [
            ("@KEY@", self.placeholder.clone().into_bytes()),
            ("@VALUE@", value.to_vec()),
            ("@BASE64@", STANDARD.encode([b"user:", value].concat()).into_bytes()),
            ("@HEX@", hex_encode(value).to_uppercase().into_bytes()),
            ("@PERCENT@", percent_encode(value).into_bytes()),
        ];
        replace_markers(input, &forms)
    }
}

fn replace_markers(input: &[u8], forms: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut made, mut rest) = (Vec::with_capacity(input.len()), input);
    while let Some((&byte, after)) = rest.split_first() {
        match forms.iter().find(|(name, _)| byte == b'@' && rest.starts_with(name.as_bytes())) {
            Some((name, form)) => {
                made.extend_from_slice(form);
                rest = &rest[name.len()..];
            }
            None => {
                made.push(byte);
                rest = after;
            }
        }
    }
    made
}

/// `user:` and the value, as `Authorization: Basic` has it.
pub const BASE64: &str = "dXNlcjpTM2tyK3QvVjRsdWUlJiLDqQ==";

pub fn hex_encode(value: &[u8]) -> String {
    value.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn percent_encode(value: &[u8]) -> String {
    value.iter().map(|byte| format!("%{byte:02x}")).collect()
}

#[cfg(test)]
#[test]
fn the_forms_of_the_planted_secret_are_right_and_the_scrubber_knows_them() {
    let planted = PlantedSecret::new("a.test");
    let scrubber = planted.scrubber();
    assert_eq!(planted.fill_forms(b"@BASE64@"), BASE64.as_bytes());
    for form in ["@VALUE@", "@BASE64@", "@HEX@", "@PERCENT@"] {
        let set = planted.fill_forms(form.as_bytes());
        assert!(super::contains_bytes(&scrubber.scrub_bytes(&set), b"skillcell_secret_KEY_"), "{form}");
    }
    assert_eq!(scrubber.scrub(std::str::from_utf8(&planted.fill_forms(b"@KEY@")).unwrap()), planted.placeholder);
}
