//! What happens, for who watches: counts, how long calls took, and a feed of calls. The feed is bounded and lossy: a slow
//! watcher misses events, and no call waits for one.

mod latency;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use tokio::sync::broadcast;

pub use self::latency::{LATENCY_BOUNDS, Latency};
use skillcell_host::call::Report;

/// Events that a watcher may be behind by.
const FEED_LENGTH: usize = 256;
/// Calls that ended and are remembered.
const RECENT_LENGTH: usize = 50;
/// Denials of a call that the feed tells of.
const MAX_DENIALS: usize = 8;

/// Something that happened to a call.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum CallEvent {
    /// A worker began it.
    Started {
        /// Counts calls since the server's start.
        call: u64,
        /// The skill's id.
        skill: String,
        /// The token's name.
        client: Option<String>,
        /// How long it waited for a worker.
        waited_ms: f64,
    },
    /// It is over.
    Ended {
        /// As it was started.
        call: u64,
        /// The skill's id.
        skill: String,
        /// The token's name.
        client: Option<String>,
        /// By the name in the JSON contract, or `error`.
        outcome: String,
        /// From its start on a worker.
        took_ms: f64,
        /// What was refused, each in a sentence; the first few.
        denials: Vec<String>,
    },
}

/// Counts and the feed of one service.
pub struct Activity {
    feed: broadcast::Sender<CallEvent>,
    next_call: AtomicU64,
    skills: Mutex<BTreeMap<String, SkillActivity>>,
    recent: Mutex<VecDeque<(SystemTime, CallEvent)>>,
    /// Calls that did not get a worker, by the reason's code.
    turned_away: Mutex<BTreeMap<&'static str, u64>>,
}

/// What happened to one skill's calls.
#[derive(Debug, Clone, Default)]
pub struct SkillActivity {
    /// Calls by how they ended.
    pub outcomes: BTreeMap<String, u64>,
    /// How long they took on a worker.
    pub latency: Latency,
    /// How long they waited for one.
    pub waited: Latency,
    /// Requests of theirs that were refused.
    pub denials: u64,
}

impl Default for Activity {
    fn default() -> Activity {
        Activity {
            feed: broadcast::Sender::new(FEED_LENGTH),
            next_call: AtomicU64::new(1),
            skills: Mutex::default(),
            recent: Mutex::default(),
            turned_away: Mutex::default(),
        }
    }
}

/// Who is called by whom, for the feed.
#[derive(Clone, Copy)]
pub(crate) struct Parties<'a> {
    pub skill: &'a str,
    pub client: Option<&'a str>,
}

impl Activity {
    /// The feed, from now on.
    pub fn watch(&self) -> broadcast::Receiver<CallEvent> {
        self.feed.subscribe()
    }

    /// The skills that were called, with what became of that.
    pub fn skills(&self) -> BTreeMap<String, SkillActivity> {
        self.lock().clone()
    }

    /// Calls that did not get a worker, by the reason's code.
    pub fn turned_away(&self) -> BTreeMap<&'static str, u64> {
        self.turned_away.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All calls' time on a worker.
    pub fn latency(&self) -> Latency {
        let mut all = Latency::default();
        self.lock().values().for_each(|skill| all.add_all(&skill.latency));
        all
    }

    pub(crate) fn count_turned_away(&self, code: &'static str) {
        *self.turned_away.lock().unwrap_or_else(PoisonError::into_inner).entry(code).or_default() += 1;
    }

    /// A worker begins a call, whose number this is.
    pub(crate) fn tell_start(&self, parties: Parties<'_>, waited: Duration) -> u64 {
        let call = self.next_call.fetch_add(1, Ordering::Relaxed);
        // Nobody watches most of the time, and then nothing is copied.
        if self.feed.receiver_count() > 0 {
            let (skill, client) = (parties.skill.to_owned(), parties.client.map(str::to_owned));
            let _ = self.feed.send(CallEvent::Started { call, skill, client, waited_ms: to_ms(waited) });
        }
        call
    }

    /// A call is over; without a report the host failed.
    pub(crate) fn tell_end(&self, call: u64, parties: Parties<'_>, times: [Duration; 2], report: Option<&Report>) {
        let [_, took] = times;
        let outcome = report.map_or("error", |report| report.outcome.name());
        let denials = report.map_or(&[][..], |report| &report.denials);
        self.count_end(parties.skill, outcome, denials.len(), times);
        let ended = CallEvent::Ended {
            call,
            skill: parties.skill.to_owned(),
            client: parties.client.map(str::to_owned),
            outcome: outcome.to_owned(),
            took_ms: to_ms(took),
            denials: denials.iter().take(MAX_DENIALS).map(|denial| denial.message.clone()).collect(),
        };
        if self.feed.receiver_count() > 0 {
            let _ = self.feed.send(ended.clone());
        }
        self.remember(ended);
    }

    /// The calls that ended last, the last one first, with when.
    pub fn recent(&self) -> Vec<(SystemTime, CallEvent)> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
    }

    fn remember(&self, ended: CallEvent) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = (recent.len() >= RECENT_LENGTH).then(|| recent.pop_front());
        recent.push_back((SystemTime::now(), ended));
        drop(recent);
        // Its texts are freed when others can go on.
        drop(oldest);
    }

    fn count_end(&self, skill: &str, outcome: &str, denials: usize, [waited, took]: [Duration; 2]) {
        let mut skills = self.lock();
        // Ids and outcomes are few, so a name is copied only the first time.
        if !skills.contains_key(skill) {
            skills.insert(skill.to_owned(), SkillActivity::default());
        }
        let Some(activity) = skills.get_mut(skill) else { return };
        match activity.outcomes.get_mut(outcome) {
            Some(count) => *count += 1,
            None => drop(activity.outcomes.insert(outcome.to_owned(), 1)),
        }
        activity.denials += denials as u64;
        activity.latency.add(took);
        activity.waited.add(waited);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, SkillActivity>> {
        self.skills.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn to_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
