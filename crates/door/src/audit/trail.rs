//! The lines of one call, from its beginning to its end.
//!
//! Invariant: an allowed action happens only after its line is written. Once a line could not be written, nothing more is
//! allowed in this call, and the call ends in an error.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use super::grants::Rules;
use super::line::SCHEMA;
use super::{AuditError, AuditLog, Event, Line, when};
use skillcell_http::Scrubber;
use skillcell_limits::outcome::{Outcome, Usage};
use skillcell_policy::Tier;

/// The most decisions of a call that are recorded, so that a skill can't fill the disk. Beyond it, everything is denied,
/// and denials are only counted.
const MAX_DECISIONS: u64 = 4096;

/// Why something is denied although a rule allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRecorded {
    /// A line could not be written, this one or an earlier one of the call.
    #[error("the audit can't be written, and nothing is let through unrecorded")]
    Failed,
    /// The call has all the lines that a call may have.
    #[error("this call has had {MAX_DECISIONS} lines in the audit, and nothing is let through unrecorded")]
    Full,
}

/// The audit trail of one call.
pub struct Trail {
    log: AuditLog,
    call: String,
    skill: String,
    digest: String,
    /// The tier that the call runs in; it changes if the planned one turns out to be unavailable.
    tier: Mutex<Option<Tier>>,
    pub(super) rules: OnceLock<Rules>,
    pub(super) scrubber: OnceLock<Arc<Scrubber>>,
    /// Denied file operations, so that each is recorded once.
    pub(super) denied_paths: Mutex<HashSet<String>>,
    decisions: AtomicU64,
    denied: AtomicU64,
    unrecorded: AtomicU64,
    failed: AtomicBool,
    fault: Mutex<Option<AuditError>>,
}

impl AuditLog {
    /// Records that a call begins, with the skill's id and digest and the names of the call's environment variables. The
    /// skill has not run yet.
    pub fn begin<'a>(
        &self,
        skill: &str,
        digest: &str,
        env: impl Iterator<Item = &'a String>,
    ) -> Result<Arc<Trail>, AuditError> {
        let mut id = [0; 16];
        if !self.is_null() {
            getrandom::fill(&mut id).map_err(|_| AuditError::NoEntropy)?;
        }
        let trail = Trail {
            log: self.clone(),
            call: id.iter().map(|byte| format!("{byte:02x}")).collect(),
            skill: skill.to_owned(),
            digest: digest.to_owned(),
            tier: Mutex::default(),
            rules: OnceLock::new(),
            scrubber: OnceLock::new(),
            denied_paths: Mutex::default(),
            decisions: AtomicU64::new(0),
            denied: AtomicU64::new(0),
            unrecorded: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            fault: Mutex::default(),
        };
        if self.is_null() {
            return Ok(Arc::new(trail));
        }
        let origin = self.origin.as_deref().cloned().unwrap_or_default();
        trail.write_line(Line {
            request: origin.request,
            traceparent: origin.traceparent,
            client: origin.client,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            pid: Some(std::process::id()),
            env: env.cloned().collect(),
            ..trail.new_line(Event::Begin)
        });
        trail.take_failure()?;
        Ok(Arc::new(trail))
    }

    /// The file, as it was named.
    pub fn path(&self) -> Option<&std::path::Path> {
        self.file.as_ref().map(|file| file.path())
    }
}

impl Trail {
    /// Sets the tier that the following lines name.
    pub fn set_tier(&self, tier: Option<Tier>) {
        *self.tier.lock().unwrap_or_else(PoisonError::into_inner) = tier;
    }

    /// A line of this call, to be completed.
    pub(super) fn new_line(&self, event: Event) -> Line {
        let tier = *self.tier.lock().unwrap_or_else(PoisonError::into_inner);
        Line {
            tier: tier.map(|tier| tier.name().to_owned()),
            schema: SCHEMA,
            when: when::rfc3339(SystemTime::now()),
            call: self.call.clone(),
            skill: self.skill.clone(),
            digest: self.digest.clone(),
            event,
            ..Line::default()
        }
    }

    /// Whether anything is recorded.
    pub fn is_null(&self) -> bool {
        self.log.is_null()
    }

    /// Records an allowed action; it may happen once this returns `Ok`.
    pub(super) fn record_allowed(&self, line: Line) -> Result<(), NotRecorded> {
        if self.is_null() {
            return Ok(());
        }
        if self.failed.load(Ordering::Acquire) {
            return Err(NotRecorded::Failed);
        }
        if self.decisions.fetch_add(1, Ordering::Relaxed) >= MAX_DECISIONS {
            return Err(NotRecorded::Full);
        }
        self.write_line(Line { allowed: Some(true), ..line });
        if self.failed.load(Ordering::Acquire) { Err(NotRecorded::Failed) } else { Ok(()) }
    }

    /// Records a denial. Failures are kept for [`record_end`](Trail::record_end).
    pub(super) fn record_denied(&self, line: Line) {
        if self.is_null() {
            return;
        }
        self.denied.fetch_add(1, Ordering::Relaxed);
        if self.decisions.fetch_add(1, Ordering::Relaxed) < MAX_DECISIONS {
            self.write_line(Line { allowed: Some(false), ..line });
        } else {
            self.unrecorded.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes a line; the first failure is kept.
    pub(super) fn write_line(&self, mut line: Line) {
        let scrubber = self.scrubber.get();
        line.clean_texts(|text| {
            if let Some(scrubber) = scrubber {
                *text = scrubber.scrub(text).into_owned();
            }
        });
        if let Err(error) = self.log.write(&line) {
            self.failed.store(true, Ordering::Release);
            self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// The error of the first line that could not be written, if any.
    pub(super) fn take_failure(&self) -> Result<(), AuditError> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Records how the call ended. An error means that the trail is incomplete, whatever the call's outcome.
    pub fn record_end<E: std::error::Error>(&self, done: Result<Ended<'_>, &E>) -> Result<(), AuditError> {
        if self.is_null() {
            return Ok(());
        }
        let counted = |count: &AtomicU64| Some(count.load(Ordering::Relaxed));
        let line = Line {
            denied: counted(&self.denied),
            unrecorded: counted(&self.unrecorded).filter(|count| *count > 0),
            ..self.new_line(Event::End)
        };
        self.write_line(match done {
            Ok(ended) => ended.complete_line(line),
            Err(error) => {
                Line { outcome: Some("error".to_owned()), reason: Some(skillcell_quote::error_chain(error)), ..line }
            }
        });
        self.take_failure()
    }
}

/// How a call ended, as the audit log records it.
pub struct Ended<'a> {
    /// Where it was made.
    pub tier: Tier,
    /// How it ended; of an exception only the class is recorded.
    pub outcome: &'a Outcome,
    /// What it used.
    pub usage: &'a Usage,
}

impl Ended<'_> {
    fn complete_line(&self, line: Line) -> Line {
        let Ended { tier, outcome, usage } = self;
        let (limit, raised) = match outcome {
            Outcome::Raised(raised) => (None, Some(raised)),
            Outcome::Exceeded(limit, raised) => (Some(limit.to_string()), raised.as_ref()),
            _ => (None, None),
        };
        Line {
            outcome: Some(outcome.name().to_owned()),
            // A refused call ran in no tier.
            tier: (!matches!(outcome, Outcome::Refused)).then(|| tier.name().to_owned()),
            limit,
            // Only the class: the message may contain the skill's data.
            error: raised.map(|raised| raised.kind.clone()),
            ms: Some(round_to_ms(usage.wall)),
            memory_peak_bytes: Some(usage.memory_peak_bytes),
            host_calls: Some(usage.host_calls),
            ..line
        }
    }
}

fn round_to_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
