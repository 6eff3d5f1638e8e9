//! The operator's forward proxy for all HTTP: `http://host[:port]`. A setting of the host; a skill can't change it.

use std::fmt;
use std::str::FromStr;

use super::host::HostName;
use super::quote::brief;
use super::url::{BadUrl, Scheme, Target};

/// Why a text is not a valid proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadProxy {
    #[error("`{0}` is not `http://HOST[:PORT]`: a proxy is spoken to over plain http")]
    Form(String),
    #[error("a proxy that wants a name and a password is not supported")]
    Credentials,
    #[error(transparent)]
    Url(BadUrl),
}

/// An HTTP proxy. `Display` gives the form that `parse` accepts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ForwardProxy {
    host: HostName,
    port: u16,
}

impl ForwardProxy {
    pub fn parse(text: &str) -> Result<ForwardProxy, BadProxy> {
        let target = Target::parse(text).map_err(|bad| match bad {
            BadUrl::UserInfo => BadProxy::Credentials,
            BadUrl::Scheme(text) => BadProxy::Form(text),
            bad => BadProxy::Url(bad),
        })?;
        let plain = target.scheme() == Scheme::Http && target.path() == "/" && target.query().is_none();
        if !plain || text.contains('#') {
            return Err(BadProxy::Form(brief(text)));
        }
        Ok(ForwardProxy { host: target.host().clone(), port: target.port() })
    }

    pub fn host(&self) -> &HostName {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for ForwardProxy {
    type Err = BadProxy;

    fn from_str(text: &str) -> Result<ForwardProxy, BadProxy> {
        ForwardProxy::parse(text)
    }
}

impl fmt::Display for ForwardProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_a_host_and_a_port_and_nothing_else() {
        let read = |text: &str| ForwardProxy::parse(text).map(|proxy| proxy.to_string());
        assert_eq!(read("http://Proxy.example.org:3128/").unwrap(), "http://proxy.example.org:3128");
        assert_eq!(read("http://[::1]:8080").unwrap(), "http://[::1]:8080");
        assert_eq!(read("http://proxy").unwrap(), "http://proxy:80");
        for text in
            ["", "proxy:3128", "https://proxy", "socks5://proxy", "http://proxy/x", "http://proxy?x", "http://p#x"]
        {
            assert!(matches!(read(text), Err(BadProxy::Form(_))), "{text}");
        }
        assert_eq!(read("http://me:word@proxy"), Err(BadProxy::Credentials));
        assert!(matches!(read("http://proxy:0"), Err(BadProxy::Url(_))));
    }
}
