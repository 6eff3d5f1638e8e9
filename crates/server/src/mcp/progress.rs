//! Progress of long work, for whoever waits for it: the host's steps, watched, and told to clients that gave a token.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::watch;

use crate::Client;
use skillcell_cache::progress::Progress;

/// How often a client is told at most, and, while nothing changes, at least: its time-out begins anew with each word.
const AT_MOST_EVERY: Duration = Duration::from_millis(500);
const AT_LEAST_EVERY: Duration = Duration::from_secs(2);

/// Passes on what the host reports, and lets others watch it.
pub struct Watched {
    inner: Arc<dyn Progress + Send + Sync>,
    step: watch::Sender<Step>,
}

/// What the host does, and how far it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Step {
    what: String,
    percent: Option<u64>,
}

impl Watched {
    /// Of what is told to `inner`.
    pub fn new(inner: Arc<dyn Progress + Send + Sync>) -> Arc<Watched> {
        Arc::new(Watched { inner, step: watch::Sender::default() })
    }

    /// In a line.
    fn describe(&self) -> String {
        let Step { what, percent } = self.step.borrow().clone();
        match percent {
            _ if what.is_empty() => "preparing".to_owned(),
            Some(percent) => format!("{what} ({percent} %)"),
            None => what,
        }
    }
}

impl Progress for Watched {
    fn step(&self, what: &str) {
        self.step.send_replace(Step { what: skillcell_quote::one_line(what), percent: None });
        self.inner.step(what);
    }

    fn fraction(&self, done: u64, total: u64) {
        let percent = (total > 0).then(|| done.min(total) * 100 / total);
        self.step.send_if_modified(|step| std::mem::replace(&mut step.percent, percent) != percent);
        self.inner.fraction(done, total);
    }

    fn note(&self, message: &str) {
        self.inner.note(message);
    }
}

/// Tells one client how its call is getting on, if it gave a token.
pub struct Teller {
    told: Option<(Peer<RoleServer>, ProgressToken)>,
    since: Instant,
    watched: Arc<Watched>,
    /// The host's words name skills: they are for who may know of all of them.
    shows_steps: bool,
}

impl Teller {
    /// For the call of this request.
    pub fn new(context: &RequestContext<RoleServer>, client: &Client, watched: Arc<Watched>) -> Teller {
        let told = context.meta.get_progress_token().map(|token| (context.peer.clone(), token));
        Teller { told, since: Instant::now(), watched, shows_steps: client.is_operator() }
    }

    /// Tells what the host does, for as long as it is polled.
    pub async fn tell_preparing(&self) {
        let mut steps = self.watched.step.subscribe();
        loop {
            let step = self.shows_steps.then(|| self.watched.describe());
            self.tell(step.as_deref().unwrap_or("preparing")).await;
            tokio::time::sleep(AT_MOST_EVERY).await;
            let _ = tokio::time::timeout(AT_LEAST_EVERY, steps.changed()).await;
        }
    }

    /// Tells that the call is running, for as long as it is polled.
    pub async fn tell_running(&self) {
        loop {
            tokio::time::sleep(AT_LEAST_EVERY).await;
            self.tell("running").await;
        }
    }

    /// The number is the seconds that went by: it has to grow, and nobody knows how many there will be.
    async fn tell(&self, message: &str) {
        let Some((peer, token)) = &self.told else { return };
        let seconds = (self.since.elapsed().as_secs_f64() * 1e3).round() / 1e3;
        let told = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
        // A client that is gone ends the call by itself.
        let _ = peer.notify_progress(told).await;
    }
}
