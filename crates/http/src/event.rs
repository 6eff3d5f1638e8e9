//! Audit events: each decision and each secret before anything is sent, and the end of each allowed request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use crate::error::HttpError;
use crate::gate::{Asked, Refusal};
use skillcell_policy::{DecidedBy, SecretDenial};

/// One line of an audit. URLs come without their query, which may carry data; the path is kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A decision. It is recorded before it takes effect, so it is in the log even if the call is killed.
    Decided {
        /// `None` for a connection, or if the request could not be parsed.
        method: Option<String>,
        url: String,
        allowed: bool,
        rule: String,
        #[serde(skip)]
        by: DecidedBy,
        /// Why not.
        reason: Option<String>,
    },
    /// A secret's value is about to be sent.
    Secret {
        name: String,
        /// The host that it goes to, as in the URL.
        host: String,
        tls: bool,
        address: SocketAddr,
    },
    /// A request is sent with a secret's placeholder, because the value is not granted for its destination.
    SecretWithheld {
        name: String,
        host: String,
        /// In a sentence.
        reason: String,
    },
    /// An allowed request has ended, or the call has.
    Finished {
        method: String,
        url: String,
        /// The address that it was sent to, if it was sent.
        address: Option<SocketAddr>,
        status: Option<u16>,
        /// The code of the error that ended it; `closed` when the server stopped early, `abandoned` when the guest did.
        error: Option<&'static str>,
        /// The secrets whose values were sent.
        secrets: Vec<String>,
        /// All bytes that were sent, heads included; before TLS.
        bytes_up: u64,
        /// The body's bytes as the server sent them, framing aside.
        bytes_down: u64,
        ms: f64,
    },
}

/// Where events go.
pub trait Audit: Send + Sync {
    /// Records an event before it takes effect. An error ends the request, because nothing is done unrecorded.
    fn record(&self, event: &Event) -> Result<(), Refusal>;
}

/// An allowed request in progress. Dropping it records its end.
pub struct Record {
    audit: Arc<dyn Audit>,
    started: Instant,
    method: String,
    url: String,
    host: String,
    tls: bool,
    /// The secrets that were recorded, and the addresses they were sent to.
    told: Vec<(String, SocketAddr)>,
    pub address: Option<SocketAddr>,
    pub status: Option<u16>,
    pub error: Option<&'static str>,
    pub secrets: Vec<String>,
    pub bytes_up: u64,
    pub bytes_down: u64,
}

impl Record {
    pub fn new(audit: Arc<dyn Audit>, asked: &Asked) -> Record {
        Record {
            audit,
            started: Instant::now(),
            method: asked.method.clone(),
            url: asked.url(),
            host: asked.place.authority(asked.tls),
            tls: asked.tls,
            told: Vec::new(),
            address: None,
            status: None,
            error: Some("abandoned"),
            secrets: Vec::new(),
            bytes_up: 0,
            bytes_down: 0,
        }
    }

    /// Records secrets that are about to be sent to an address, once per secret and address.
    pub fn record_secrets(&mut self, names: Vec<String>, address: SocketAddr) -> Result<(), Refusal> {
        for name in names {
            if self.told.iter().any(|(told, to)| *told == name && *to == address) {
                continue;
            }
            let (host, tls) = (self.host.clone(), self.tls);
            self.audit.record(&Event::Secret { name: name.clone(), host, tls, address })?;
            if !self.secrets.contains(&name) {
                self.secrets.push(name.clone());
            }
            self.told.push((name, address));
        }
        Ok(())
    }

    /// Records secrets that are withheld although the skill used their placeholders. Failures are ignored.
    pub fn record_withheld(&self, denials: Vec<SecretDenial>) {
        for denial in denials {
            let (host, reason) = (self.host.clone(), denial.to_string());
            let _ = self.audit.record(&Event::SecretWithheld { name: denial.name, host, reason });
        }
    }

    /// Records that the response is not passed on to the guest.
    pub fn record_refusal(&self, refusal: &Refusal) {
        let _ = self.audit.record(&Event::Decided {
            method: Some(self.method.clone()),
            url: self.url.clone(),
            allowed: false,
            rule: refusal.rule.clone(),
            by: refusal.by,
            reason: Some(refusal.message.clone()),
        });
    }

    pub fn set_error(&mut self, error: &HttpError) {
        self.error = Some(error.code());
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // The request has ended; there is nothing left to stop if recording fails.
        let _ = self.audit.record(&Event::Finished {
            method: std::mem::take(&mut self.method),
            url: std::mem::take(&mut self.url),
            address: self.address,
            status: self.status,
            error: self.error,
            secrets: std::mem::take(&mut self.secrets),
            bytes_up: self.bytes_up,
            bytes_down: self.bytes_down,
            ms: (self.started.elapsed().as_secs_f64() * 1e6).round() / 1e3,
        });
    }
}
