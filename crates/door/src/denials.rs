//! Collects a call's denials for its report, and forwards decisions to the audit log. Bounded, because a cell can make
//! any number of requests.

use std::sync::{Arc, Mutex, PoisonError};

use crate::audit::Trail;
use skillcell_http::{Audit, Event, Refusal};
use skillcell_limits::outcome::{Note, NoteKind};
use skillcell_policy::{Allowed, DecidedBy, Denial, DenialKind, NO_RULE};

/// The most denials that are kept.
const MAX_DENIALS: usize = 64;

/// The denials of one call, without duplicates.
#[derive(Default)]
pub struct Denials {
    kept: Mutex<Vec<Denial>>,
    /// Notes on secrets that were withheld.
    notes: Mutex<Vec<Note>>,
    trail: Option<Arc<Trail>>,
}

impl Denials {
    /// For a call that is audited.
    pub fn with_trail(trail: Arc<Trail>) -> Denials {
        Denials { trail: Some(trail), ..Denials::default() }
    }

    pub fn add(&self, denial: Denial) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_DENIALS && !kept.contains(&denial) {
            kept.push(denial);
        }
    }

    pub fn take(&self) -> Vec<Denial> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Further notes for the report.
    pub fn take_notes(&self) -> Vec<Note> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note_withheld(&self, name: &str, reason: &str) {
        let note = Note::new(NoteKind::SecretNotUsed, name, reason);
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MAX_DENIALS && !notes.contains(&note) {
            notes.push(note);
        }
    }

    fn has_message(&self, message: &str) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|denial| denial.message == message)
    }

    /// Records that a name is about to be looked up, or was refused.
    pub fn record_lookup(&self, name: &str, decision: Result<&Allowed, &Denial>) -> Result<(), Refusal> {
        let Some(trail) = &self.trail else { return Ok(()) };
        trail.record_lookup(name, decision).inspect_err(|refusal| self.keep_refusal(name.to_owned(), refusal))
    }

    /// Refuses a connection where nothing of the network is granted.
    pub fn refuse_connection(&self, host: &str, port: u16, denial: Denial) {
        if let Some(trail) = &self.trail {
            let (url, rule) = (format!("//{host}:{port}"), NO_RULE.to_owned());
            let reason = Some(denial.message.clone());
            let _ = trail.record_http(&Event::Decided {
                method: None,
                url,
                allowed: false,
                rule,
                by: DecidedBy::Default,
                reason,
            });
        }
        self.add(denial);
    }

    fn keep_refusal(&self, asked: String, refusal: &Refusal) {
        self.add(Denial {
            kind: DenialKind::Http,
            asked,
            rule: Some(refusal.rule.clone()),
            message: refusal.message.clone(),
            hint: None,
            flag: None,
        });
    }
}

/// The gate adds policy's denials with all details. Refusals by built-in checks arrive only here.
impl Audit for Denials {
    fn record(&self, event: &Event) -> Result<(), Refusal> {
        if let Some(trail) = &self.trail {
            trail.record_http(event).inspect_err(|refusal| self.keep_refusal(describe_event(event), refusal))?;
        }
        if let Event::Decided { allowed: false, rule, by, reason: Some(message), .. } = event
            && !self.has_message(message)
        {
            let (rule, by, message) = (rule.clone(), *by, message.clone());
            self.keep_refusal(describe_event(event), &Refusal { rule, by, message, hint: None });
        }
        if let Event::SecretWithheld { name, reason, .. } = event {
            self.note_withheld(name, reason);
        }
        Ok(())
    }
}

fn describe_event(event: &Event) -> String {
    match event {
        Event::Decided { method: Some(method), url, .. } | Event::Finished { method, url, .. } => {
            format!("{method} {url}")
        }
        Event::Decided { url, .. } => url.clone(),
        Event::Secret { name, host, .. } | Event::SecretWithheld { name, host, .. } => format!("{name}@{host}"),
    }
}
