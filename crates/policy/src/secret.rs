//! Secrets: where a value comes from, and the hosts that it may be sent to. No value is read here; the one that a program
//! gives with its grant is carried along, and shown nowhere.
//!
//! ```text
//!   NAME[=SOURCE]@HOST        SOURCE: env:VARIABLE  file:PATH  cmd:COMMAND  or VARIABLE, or a PATH with a slash
//!                             HOST:   host[:port]   *.example.org   http://host, which allows plain http too
//! ```
//!
//! Without a source, the value comes from the host's environment variable of that name. For several hosts, repeat the
//! secret. A host without a port means every port that the HTTP rules allow.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::command;
use super::env::{BadEnv, check_grantable, check_name};
use super::host::{BadHost, HostName, HostPattern};
use super::quote::{brief, is_plain};
use super::rules::HttpPart;
use super::url::{self, BadUrl, Scheme, Target};

const MAX_SOURCE_BYTES: usize = 4096;
const MAX_HOST_BYTES: usize = 512;

/// Why a text is no `NAME[=SOURCE]@HOST`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSecret {
    #[error("`{0}` does not say which host it is for: `NAME[=SOURCE]@HOST`")]
    NoHost(String),
    #[error("the source of the secret `{0}` is empty, too long, or has a control character")]
    Source(String),
    #[error("the command of the secret `{0}` names no program, or leaves a quote open")]
    Command(String),
    #[error("`{0}` has a path; a secret is granted for a host")]
    Path(String),
    #[error("the host of a secret is longer than {MAX_HOST_BYTES} bytes")]
    TooLong,
    #[error(transparent)]
    Name(#[from] BadEnv),
    #[error(transparent)]
    Host(#[from] BadHost),
    #[error(transparent)]
    Url(#[from] BadUrl),
}

/// Where the host reads a value from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SecretSource {
    Env(String),
    File(String),
    /// Program and arguments, to be split by [`command_words`](SecretSource::command_words).
    Command(String),
    /// Not read: the program that makes the call gave it. No text says this.
    Given(GivenValue),
}

/// The value of a secret. It is wiped when the last grant that has it is gone.
#[derive(Clone, PartialEq, Eq)]
pub struct GivenValue(Arc<Zeroizing<String>>);

impl GivenValue {
    pub fn new(value: impl Into<Zeroizing<String>>) -> GivenValue {
        GivenValue(Arc::new(value.into()))
    }

    /// The value, for whoever puts it into requests.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for GivenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenValue(…)")
    }
}

impl Hash for GivenValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl SecretSource {
    /// The words of a command, split without a shell; empty for other sources.
    pub fn command_words(&self) -> Vec<String> {
        match self {
            SecretSource::Command(text) => command::split_words(text).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn parse(name: &str, text: &str) -> Result<SecretSource, BadSecret> {
        if text.len() > MAX_SOURCE_BYTES || !text.chars().all(is_plain) {
            return Err(BadSecret::Source(name.to_owned()));
        }
        let source = if let Some(variable) = text.strip_prefix("env:") {
            SecretSource::Env(variable.to_owned())
        } else if let Some(path) = text.strip_prefix("file:") {
            SecretSource::File(path.to_owned())
        } else if let Some(command) = text.strip_prefix("cmd:") {
            SecretSource::Command(command.to_owned())
        } else if text.contains('/') {
            SecretSource::File(text.to_owned())
        } else {
            SecretSource::Env(text.to_owned())
        };
        match &source {
            SecretSource::Env(variable) => check_name(variable)?,
            SecretSource::File(path) if path.trim().is_empty() => return Err(BadSecret::Source(name.to_owned())),
            SecretSource::Command(text) if command::split_words(text).is_none() => {
                return Err(BadSecret::Command(name.to_owned()));
            }
            _ => {}
        }
        Ok(source)
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Env(variable) => write!(f, "env:{variable}"),
            SecretSource::File(path) => write!(f, "file:{path}"),
            SecretSource::Command(command) => write!(f, "cmd:{command}"),
            // Nothing that could be read as a source: whoever copies the line has no value.
            SecretSource::Given(_) => f.write_str("given:"),
        }
    }
}

/// A host, or a pattern of hosts, that a secret may be sent to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretHost {
    host: HostPattern,
    port: Option<u16>,
    /// Whether it may also be sent over plain http.
    allow_plain_http: bool,
}

impl SecretHost {
    pub fn parse(text: &str) -> Result<SecretHost, BadSecret> {
        if text.len() > MAX_HOST_BYTES {
            return Err(BadSecret::TooLong);
        }
        let lower = text.to_ascii_lowercase();
        let allow_plain_http = lower.starts_with("http://");
        let prefix = if allow_plain_http { "http://" } else { "https://" };
        let authority = lower.strip_prefix(prefix).unwrap_or(&lower);
        if authority.contains(['/', '?', '#']) {
            return Err(BadSecret::Path(brief(text)));
        }
        let (host, port) = url::split_port(authority)?;
        Ok(SecretHost { host: HostPattern::parse(host)?, port, allow_plain_http })
    }

    pub fn host(&self) -> &HostPattern {
        &self.host
    }

    pub fn allows_plain_http(&self) -> bool {
        self.allow_plain_http
    }

    /// Whether the secret may go into a request to this target.
    pub fn matches(&self, target: &Target) -> bool {
        self.failing_part(target).is_none()
    }

    /// The first part of a target that this doesn't match.
    fn failing_part(&self, target: &Target) -> Option<HttpPart> {
        if !self.host.matches(target.host()) {
            Some(HttpPart::Host)
        } else if target.scheme() == Scheme::Http && !self.allow_plain_http {
            Some(HttpPart::Scheme)
        } else {
            self.port.is_some_and(|port| port != target.port()).then_some(HttpPart::Port)
        }
    }

    pub fn covers(&self, other: &SecretHost) -> bool {
        self.host.covers(&other.host)
            && (self.port.is_none() || self.port == other.port)
            && (self.allow_plain_http || !other.allow_plain_http)
    }

    pub fn intersect(&self, other: &SecretHost) -> Option<SecretHost> {
        if self.port.is_some() && other.port.is_some() && self.port != other.port {
            return None;
        }
        let host = self.host.intersect(&other.host)?;
        let allow_plain_http = self.allow_plain_http && other.allow_plain_http;
        Some(SecretHost { host, port: self.port.or(other.port), allow_plain_http })
    }
}

impl fmt::Display for SecretHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.allow_plain_http { "http://" } else { "" }, self.host)?;
        self.port.iter().try_for_each(|port| write!(f, ":{port}"))
    }
}

/// Proof that a secret's value may go into a request to one target. Only [`SecretGrant::decide`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretUse {
    name: String,
    host: SecretHost,
}

impl SecretUse {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The grant that decided.
    pub fn host(&self) -> &SecretHost {
        &self.host
    }
}

/// Why a secret's value does not go into a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value of `{name}` was not put into a request to `{to}`, which got the placeholder: {}", self.reason())]
pub struct SecretDenial {
    pub name: String,
    /// The origin that the request is for.
    pub to: String,
    /// The part of the request that the closest grant doesn't match.
    pub part: HttpPart,
    pub closest: Option<SecretHost>,
}

impl SecretDenial {
    /// For a placeholder in a path: it is not replaced, because policy decided about the path as it is.
    pub fn in_path(name: &str, url: &str) -> SecretDenial {
        SecretDenial { name: name.to_owned(), to: brief(url), part: HttpPart::Path, closest: None }
    }

    fn reason(&self) -> String {
        if self.part == HttpPart::Path {
            return "values are put into headers, queries and bodies, not into paths".to_owned();
        }
        let Some(closest) = &self.closest else { return "it is granted for no host".to_owned() };
        match self.part {
            HttpPart::Scheme => format!("it is granted for `{closest}` over https only"),
            HttpPart::Port => format!("it is granted for `{closest}`, which is another port"),
            _ => format!("it is granted for `{closest}`, which is another host"),
        }
    }
}

/// A secret that a skill may use without seeing it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SecretGrant {
    pub name: String,
    pub source: SecretSource,
    pub hosts: Vec<SecretHost>,
}

impl SecretGrant {
    /// Parses from the right, so that a command may contain an `@`.
    pub fn parse(text: &str) -> Result<SecretGrant, BadSecret> {
        let (secret, host) = text.rsplit_once('@').ok_or_else(|| BadSecret::NoHost(brief(text)))?;
        let (name, source) = secret.split_once('=').map_or((secret, None), |(name, source)| (name, Some(source)));
        check_grantable(name)?;
        let source = match source {
            Some(source) => SecretSource::parse(name, source)?,
            None => SecretSource::Env(name.to_owned()),
        };
        Ok(SecretGrant { name: name.to_owned(), source, hosts: vec![SecretHost::parse(host)?] })
    }

    /// A grant with the value itself, for one host.
    pub fn with_value(name: &str, value: GivenValue, host: &str) -> Result<SecretGrant, BadSecret> {
        check_grantable(name)?;
        let hosts = vec![SecretHost::parse(host)?];
        Ok(SecretGrant { name: name.to_owned(), source: SecretSource::Given(value), hosts })
    }

    /// Whether the value may go into a request to this target. Nothing else decides that.
    pub fn decide(&self, target: &Target) -> Result<SecretUse, SecretDenial> {
        let name = self.name.clone();
        let denied = |part, closest: Option<&SecretHost>| {
            Err(SecretDenial { name: name.clone(), to: target.origin(), part, closest: closest.cloned() })
        };
        // Plain http must be allowed by every host entry of a secret; otherwise none of them allows it.
        let narrower = self.hosts.iter().find(|host| !host.allow_plain_http);
        if let (Scheme::Http, Some(narrower), true) = (target.scheme(), narrower, self.is_for_host(target.host())) {
            return denied(HttpPart::Scheme, Some(narrower));
        }
        if let Some(host) = self.hosts.iter().find(|host| host.matches(target)) {
            return Ok(SecretUse { name, host: host.clone() });
        }
        let failures = self.hosts.iter().filter_map(|host| Some((host.failing_part(target)?, host)));
        // Reversed, because `max_by_key` returns the last of equals: the first of equally close hosts wins.
        let (part, closest) = failures.rev().max_by_key(|(part, _)| *part).unzip();
        denied(part.unwrap_or(HttpPart::Host), closest)
    }

    /// Whether the value may go to this host by any scheme or port, so that a response from it may contain the value.
    pub fn is_for_host(&self, host: &HostName) -> bool {
        self.hosts.iter().any(|granted| granted.host.matches(host))
    }

    /// One text for each host, as [`parse`](Self::parse) reads them.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.hosts.iter().map(|host| format!("{}={}@{host}", self.name, self.source))
    }
}

impl FromStr for SecretGrant {
    type Err = BadSecret;

    fn from_str(text: &str) -> Result<SecretGrant, BadSecret> {
        SecretGrant::parse(text)
    }
}
