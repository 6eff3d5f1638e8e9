//! Where the server listens: on loopback, or where it was told, or on sockets that systemd opened. Beyond loopback only for
//! bearers of tokens, unless that was spelled out.

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;

/// Sockets that take connections.
#[derive(Debug)]
pub struct Listeners(pub(crate) Vec<TcpListener>);

/// Why the server can't listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address is taken, or not this machine's.
    #[error("`{address}` can't be listened on")]
    Bind {
        /// As it was asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// What systemd handed over is no TCP socket.
    #[error("a socket that was handed over can't be used")]
    HandedOver(#[source] io::Error),
    /// Anybody could call.
    #[error("`{0}` is beyond this machine, and there are no tokens")]
    Exposed(SocketAddr),
}

impl ListenError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ListenError::Exposed(_) => Some(
                "`skillcell serve --new-token NAME` makes a token; `--insecure-no-auth` lets everybody in who can reach it",
            ),
            _ => None,
        }
    }
}

impl Listeners {
    /// The sockets that systemd handed over; else one at this address.
    pub fn open(address: SocketAddr) -> Result<Listeners, ListenError> {
        let handed_over = Listeners::handed_over()?;
        if !handed_over.0.is_empty() {
            return Ok(handed_over);
        }
        let bound = TcpListener::bind(address).map_err(|source| ListenError::Bind { address, source })?;
        Ok(Listeners(vec![bound]))
    }

    fn handed_over() -> Result<Listeners, ListenError> {
        let mut sockets = ListenFd::from_env();
        let mut listeners = Vec::new();
        for place in 0..sockets.len() {
            listeners.extend(sockets.take_tcp_listener(place).map_err(ListenError::HandedOver)?);
        }
        Ok(Listeners(listeners))
    }

    /// Where they listen.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.0.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// An error if somebody beyond this machine could call without a token.
    pub fn check_exposure(&self, has_tokens: bool, insecure_no_auth: bool) -> Result<(), ListenError> {
        let beyond = self.addresses().into_iter().find(|address| !address.ip().to_canonical().is_loopback());
        match beyond {
            Some(address) if !has_tokens && !insecure_no_auth => Err(ListenError::Exposed(address)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_loopback_only_with_tokens_or_spelled_out() {
        let open = |address: &str| Listeners(vec![TcpListener::bind(address).unwrap()]);
        let [here, anywhere] = ["127.0.0.1:0", "0.0.0.0:0"].map(open);
        assert!(here.check_exposure(false, false).is_ok());
        assert!(matches!(anywhere.check_exposure(false, false), Err(ListenError::Exposed(_))));
        assert!(anywhere.check_exposure(true, false).is_ok() && anywhere.check_exposure(false, true).is_ok());
    }
}
