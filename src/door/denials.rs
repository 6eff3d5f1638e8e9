//! What a cell was refused, for its report. Bounded: a cell can ask for ever.

use std::sync::{Mutex, PoisonError};

use crate::http::{Audit, Event};
use crate::policy::{Denial, DenialKind};

/// More refusals than this are not kept.
const MAX_DENIALS: usize = 64;

/// The refusals of one call, each once.
#[derive(Default)]
pub struct Denials(Mutex<Vec<Denial>>);

impl Denials {
    pub fn add(&self, denial: Denial) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_DENIALS && !kept.contains(&denial) {
            kept.push(denial);
        }
    }

    pub fn take(&self) -> Vec<Denial> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn has(&self, message: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|denial| denial.message == message)
    }
}

/// The gate tells of what policy refused, with all there is to say. What no policy could allow is only told here.
impl Audit for Denials {
    fn record(&self, event: &Event) {
        let Event::Decided { method, url, allowed: false, rule, reason: Some(message) } = event else { return };
        if self.has(message) {
            return;
        }
        let asked = method.as_ref().map_or_else(|| url.clone(), |method| format!("{method} {url}"));
        self.add(Denial {
            kind: DenialKind::Http,
            asked,
            rule: Some(rule.clone()),
            message: message.clone(),
            hint: None,
            flag: None,
        });
    }
}
