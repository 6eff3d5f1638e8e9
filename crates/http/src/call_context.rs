//! State that all connections of one call share: gate, audit, secrets, and the remaining budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::client::HttpClient;
use crate::error::HttpError;
use crate::event::{Audit, Event};
use crate::gate::{Asked, Gate, Refusal};
use crate::limits::HttpLimits;
use crate::request::Request;
use crate::scrub::Scrubber;
use crate::secrets::Secrets;
use skillcell_policy::{Allowed, DecidedBy};

/// The shared state of one call's HTTP.
pub struct CallContext {
    /// Unique in this process.
    pub id: u64,
    pub client: Arc<HttpClient>,
    pub gate: Arc<dyn Gate>,
    pub audit: Arc<dyn Audit>,
    pub secrets: Arc<Secrets>,
    pub scrubber: Option<Arc<Scrubber>>,
    pub limits: HttpLimits,
    requests: AtomicU64,
    connects: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
}

/// A request that policy allowed: the only thing that is sent. Only [`CallContext::decide_request`] makes one.
pub struct AllowedHead {
    request: Request,
    by: Allowed,
}

impl AllowedHead {
    pub fn into_parts(self) -> (Request, Allowed) {
        (self.request, self.by)
    }
}

impl CallContext {
    pub fn new(
        client: Arc<HttpClient>,
        gate: Arc<dyn Gate>,
        audit: Arc<dyn Audit>,
        secrets: Arc<Secrets>,
        limits: HttpLimits,
    ) -> CallContext {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let scrubber = (!secrets.is_empty()).then(|| Arc::new(Scrubber::new(&secrets)));
        let zero = AtomicU64::default;
        let (requests, connects, sent, received) = (zero(), zero(), zero(), zero());
        CallContext { id, client, gate, audit, secrets, scrubber, limits, requests, connects, sent, received }
    }

    pub fn count_request(&self) -> Result<(), HttpError> {
        spend_budget(&self.requests, 1, self.limits.requests, "the number of requests in this call")
    }

    pub fn count_connect(&self) -> Result<(), HttpError> {
        spend_budget(&self.connects, 1, self.limits.requests, "the number of connections in this call")
    }

    pub fn count_sent(&self, bytes: usize) -> Result<(), HttpError> {
        spend_budget(
            &self.sent,
            bytes as u64,
            self.limits.total_request_bytes,
            "the bytes of all requests in this call",
        )
    }

    pub fn count_received(&self, bytes: usize) -> Result<(), HttpError> {
        spend_budget(
            &self.received,
            bytes as u64,
            self.limits.total_answer_bytes,
            "the bytes of all answers in this call",
        )
    }

    /// Asks the gate about a request, and about each method that an override header asks the server to use instead.
    pub fn decide_request(&self, request: Request) -> Result<AllowedHead, HttpError> {
        let url = request.asked.url();
        let decision = self.ask_gate(&request.asked).and_then(|by| {
            for method in &request.overrides {
                let mut asked = request.asked.clone();
                asked.method.clone_from(method);
                self.ask_gate(&asked)?;
            }
            Ok(by)
        });
        self.record_decision(Some(&request.asked.method), url, &decision)?;
        Ok(AllowedHead { by: decision?, request })
    }

    /// Asks the gate, and makes sure that it allowed exactly this request.
    fn ask_gate(&self, asked: &Asked) -> Result<Allowed, Refusal> {
        let allowed = self.gate.request(asked)?;
        match asked.target() {
            Ok(target) if allowed.is_for(&asked.method, &target) => Ok(allowed.by().clone()),
            _ => Err(Refusal::by_builtin_check("gate", "another request was allowed than the one that was asked for")),
        }
    }

    /// Records a refusal. Failing to record it changes nothing, since nothing is sent.
    pub fn record_refusal(&self, method: Option<&str>, url: String, refusal: &Refusal) {
        let _ = self.record_decision(method, url, &Err(refusal.clone()));
    }

    /// Records a decision. On an error, the caller must not do what was allowed.
    pub fn record_decision(
        &self,
        method: Option<&str>,
        url: String,
        decision: &Result<Allowed, Refusal>,
    ) -> Result<(), Refusal> {
        let (rule, by, reason) = match decision {
            Ok(allowed) => (allowed.rule().to_owned(), DecidedBy::Rule(allowed.id()), None),
            Err(refusal) => (refusal.rule.clone(), refusal.by, Some(refusal.message.clone())),
        };
        let method = method.map(str::to_owned);
        self.audit.record(&Event::Decided { method, url, allowed: decision.is_ok(), rule, by, reason })
    }
}

fn spend_budget(counter: &AtomicU64, amount: u64, cap: u64, what: &'static str) -> Result<(), HttpError> {
    let before = counter.fetch_add(amount, Ordering::Relaxed);
    if before.saturating_add(amount) <= cap { Ok(()) } else { Err(HttpError::TooLarge { what, cap }) }
}
