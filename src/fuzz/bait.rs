//! A secret to look for. In an input, `@KEY@` stands for its placeholder, which is drawn anew each time, and `@VALUE@`,
//! `@BASE64@`, `@HEX@` and `@PERCENT@` for its value in these forms.

use std::sync::Arc;

use crate::http::{HostPattern, Scrubber, Secret, Secrets};

/// It has characters that most encodings change, and shares no end with a placeholder's beginning.
pub const VALUE: &str = "S3kr+t/V4lue%&\"é";

pub struct Bait {
    pub secrets: Arc<Secrets>,
    placeholder: String,
}

impl Bait {
    /// Granted for one host, also over plain HTTP.
    pub fn new(host: &str) -> Bait {
        let hosts = vec![HostPattern::parse(host).expect("a host")];
        let secret = Secret { name: "KEY".into(), value: VALUE.into(), hosts, allow_plain_http: true };
        let secrets = Arc::new(Secrets::new(vec![secret]).expect("a secret"));
        let placeholder = secrets.placeholder("KEY").expect("it is there").to_owned();
        Bait { secrets, placeholder }
    }

    pub fn scrubber(&self) -> Scrubber {
        Scrubber::new(&self.secrets)
    }

    /// Puts the secret's forms where an input names them.
    pub fn set(&self, input: &[u8]) -> Vec<u8> {
        let hex: String = VALUE.bytes().map(|byte| format!("{byte:02X}")).collect();
        let percent: String = VALUE.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let forms: [(&str, &[u8]); 5] = [
            ("@KEY@", self.placeholder.as_bytes()),
            ("@VALUE@", VALUE.as_bytes()),
            ("@BASE64@", BASE64.as_bytes()),
            ("@HEX@", hex.as_bytes()),
            ("@PERCENT@", percent.as_bytes()),
        ];
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
}

/// `user:` and the value, as `Authorization: Basic` has it.
pub const BASE64: &str = "dXNlcjpTM2tyK3QvVjRsdWUlJiLDqQ==";

#[cfg(test)]
#[test]
fn the_forms_of_the_bait_are_right_and_the_scrubber_knows_them() {
    let bait = Bait::new("a.test");
    let scrubber = bait.scrubber();
    for form in ["@VALUE@", "@BASE64@", "@HEX@", "@PERCENT@"] {
        let set = bait.set(form.as_bytes());
        assert!(super::contains(&scrubber.scrub_bytes(&set), b"skillcell_secret_KEY_"), "{form}");
    }
    assert_eq!(scrubber.scrub(std::str::from_utf8(&bait.set(b"@KEY@")).unwrap()), bait.placeholder);
}
