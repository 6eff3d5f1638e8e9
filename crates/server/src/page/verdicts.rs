//! What the analysis says of each skill. It takes the guest some time, so it is asked once, in the background, when the skills
//! are ready; a skill's files don't change while it is served.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::Page;
use skillcell_study::analysis::analyse;

/// A verdict in its words, and the first reason for it.
#[derive(Debug, Clone)]
pub struct Verdict {
    pub name: String,
    pub reason: Option<String>,
}

#[derive(Default)]
pub struct Verdicts(Mutex<BTreeMap<String, Verdict>>);

impl Verdicts {
    pub fn get(&self, id: &str) -> Option<Verdict> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn set(&self, id: &str, verdict: Verdict) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), verdict);
    }
}

impl Page {
    /// Asks for the verdicts of all skills, on a thread of its own. Returns at once.
    pub fn start_verdicts(&self) {
        let page = self.clone();
        // Without a thread for it there are no verdicts to show.
        let _ = thread::Builder::new().name("verdicts".to_owned()).spawn(move || page.read_verdicts());
    }

    fn read_verdicts(&self) {
        let service = self.inner.api.service();
        for skill in service.catalogue().iter() {
            // One that can't be analysed has no verdict; its calls say why.
            if let Ok(analysis) = analyse(service.host(), skill) {
                let (name, reason) = analysis.in_brief();
                self.inner.verdicts.set(skill.id(), Verdict { name, reason });
            }
        }
    }
}
