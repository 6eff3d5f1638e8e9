//! The service: what every door calls. One host, the skills that are served, the queue before the workers, and what
//! happened. It knows nothing of HTTP or MCP.
//!
//! ```text
//!   call ─▶ may this client? ─▶ rate ─▶ queue ─▶ worker: limits less the wait ─▶ Host::call ─▶ Report
//! ```
//!
//! A call that never reached a worker has no report but a [`CallError`]: it may be made again.

mod error;
mod opened;
mod request;
mod view;
mod workers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

pub use self::error::CallError;
pub use self::opened::OpenedSession;
pub use self::request::{CallRequest, ScriptRequest};
pub use self::view::SkillView;
use self::workers::Workers;
use super::activity::{Activity, Parties};
use super::queue::{Bounds, NotQueued, Owner};
use super::warm::WarmUp;
use super::{Catalogue, Client, SessionTable};
use skillcell_host::call::{Call, Report};
use skillcell_host::{Host, Session};
use skillcell_limits::Limits;
use skillcell_limits::cancel::CancelToken;
use skillcell_packages::skill::Skill;
use skillcell_settings::CallDefaults;

/// How many calls run and wait at once.
///
/// Defaults: four workers for each core and at least 8, 1,024 calls that wait, half of that for one client.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServiceOptions {
    /// Calls that run at once. Each has a thread; a call that waits for a server needs no core.
    pub workers: usize,
    /// Calls that wait at once, of all clients.
    pub max_waiting: usize,
    /// Clients that have tokens: with more than one, each has at most half of the workers, and half of the places to wait.
    pub tokens: usize,
}

impl Default for ServiceOptions {
    fn default() -> ServiceOptions {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        ServiceOptions { workers: (4 * cores).max(8), max_waiting: 1024, tokens: 0 }
    }
}

/// What every door calls. Clones share everything.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

struct Inner {
    host: Host,
    /// What a call of each skill begins with, in the catalogue's order.
    beginnings: Vec<Call>,
    catalogue: Catalogue,
    activity: Activity,
    warm_up: WarmUp,
    sessions: SessionTable,
    workers: Workers,
}

impl Service {
    /// Serves these skills, with the default options.
    pub fn new(host: Host, defaults: CallDefaults, catalogue: Catalogue) -> Service {
        Service::with_options(host, defaults, catalogue, &ServiceOptions::default())
    }

    /// Serves these skills.
    pub fn with_options(host: Host, defaults: CallDefaults, catalogue: Catalogue, options: &ServiceOptions) -> Service {
        let beginnings = catalogue.iter().map(|skill| defaults.call(skill.id())).collect();
        let workers = Workers::new(options.workers.max(1), options.bounds(catalogue.len()));
        let (activity, warm_up, sessions) =
            (Activity::default(), WarmUp::new(catalogue.len()), SessionTable::default());
        Service { inner: Arc::new(Inner { host, beginnings, catalogue, activity, warm_up, sessions, workers }) }
    }

    /// The skills that are served.
    pub fn catalogue(&self) -> &Catalogue {
        &self.inner.catalogue
    }

    /// The host that calls are made on.
    pub fn host(&self) -> &Host {
        &self.inner.host
    }

    /// What happens: figures, and a feed of calls.
    pub fn activity(&self) -> &Activity {
        &self.inner.activity
    }

    /// The sessions that clients have open.
    pub fn sessions(&self) -> &SessionTable {
        &self.inner.sessions
    }

    /// How many calls wait and run, and on how many workers.
    pub fn load(&self) -> Load {
        let (waiting, running) = self.inner.workers.queue().load();
        Load { waiting, running, workers: self.inner.workers.count() }
    }

    /// The skill with this id, if this client may see it.
    pub fn skill_for(&self, client: &Client, id: &str) -> Option<&Skill> {
        self.inner.catalogue.get(id).filter(|skill| client.may_call(skill.id()))
    }

    /// What a call of a skill would begin with if this client made it: grants, limits, tiers. `None` if it may not see it.
    pub fn beginning_for(&self, client: &Client, id: &str) -> Option<Call> {
        let (place, skill) = self.inner.catalogue.find(id)?;
        client.may_call(skill.id()).then(|| self.inner.begin_call(client, place))
    }

    /// Makes a call. Dropping the future cancels it, and takes it out of the queue if it still waits.
    pub async fn call(&self, client: &Client, request: CallRequest) -> Result<Report, CallError> {
        #[cfg(feature = "opentelemetry")]
        let span = super::spans::CallSpan::begin(client, &request);
        let made = self.call_queued(client, request).await;
        #[cfg(feature = "opentelemetry")]
        span.end(&made);
        if let Err(error) = &made
            && let Some(code) = error.turned_away()
        {
            self.inner.activity.count_turned_away(code);
        }
        made
    }

    async fn call_queued(&self, client: &Client, request: CallRequest) -> Result<Report, CallError> {
        let inner = &self.inner;
        let unknown = || CallError::NoSuchSkill(request.skill.clone());
        let (place, skill) = inner.catalogue.find(&request.skill).ok_or_else(unknown)?;
        if !client.may_call(skill.id()) {
            return Err(unknown());
        }
        request.check_entry(skill)?;
        let deadline = inner.limits_for(client, place, &request)?.deadline;
        let handle = request.session.as_deref();
        let session = handle.map(|handle| inner.sessions.get(client, skill.id(), handle)).transpose()?;
        client.count_call().map_err(|retry_after| CallError::RateExceeded { retry_after })?;
        let owner = Owner { client: client.number, skill: place };
        let cancel = request.cancel.clone();
        let job = Job { inner: inner.clone(), client: client.clone(), place, request, session, asked: Instant::now() };
        self.run_queued(owner, deadline, cancel, move || job.make_call()).await
    }

    /// Runs something on a worker, when it is this owner's turn.
    async fn run_queued<T: Send + 'static>(
        &self,
        owner: Owner,
        deadline: Duration,
        cancel: CancelToken,
        work: impl FnOnce() -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, CallError> {
        let inner = &self.inner;
        let (reply, mut answer) = oneshot::channel();
        let pushed = inner.workers.queue().push(owner, Box::new(move || drop(reply.send(work()))));
        let number = Some(pushed.map_err(|why| inner.not_queued(why))?);
        let mut pending = Pending { inner, owner, number, cancel };
        let answered = match tokio::time::timeout(deadline, &mut answer).await {
            Ok(answered) => answered,
            // It waited for all of its time. If a worker has it by now, that one ends it: it has the same deadline.
            Err(_) if pending.withdraw() => return Err(CallError::Busy { retry_after: inner.retry_after() }),
            Err(_) => answer.await,
        };
        pending.number = None;
        answered.unwrap_or(Err(CallError::Failed))
    }

    /// A call as the operator would make it.
    pub(crate) fn operators_call(&self, id: &str) -> Call {
        self.beginning_for(&Client::default(), id).unwrap_or_default()
    }

    pub(crate) fn warm_up(&self) -> &WarmUp {
        &self.inner.warm_up
    }

    /// Takes no more calls; those that wait and run are ended by themselves or their deadlines.
    pub fn close(&self) {
        self.inner.workers.queue().close();
    }
}

/// How busy a service is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// Calls in the queue.
    pub waiting: usize,
    /// Calls on workers.
    pub running: usize,
    /// All workers.
    pub workers: usize,
}

impl ServiceOptions {
    /// Who is alone may use everything. Otherwise nobody has more than half.
    fn bounds(&self, skills: usize) -> Bounds {
        let (workers, half) = (self.workers.max(1), self.workers.div_ceil(2).max(1));
        let is_shared = self.tokens > 1;
        Bounds {
            waiting: self.max_waiting,
            waiting_per_client: if is_shared { self.max_waiting.div_ceil(2) } else { self.max_waiting },
            running_per_client: if is_shared { half } else { workers },
            running_per_skill: if skills > 1 { half } else { workers },
        }
    }
}

impl Inner {
    /// What a client's call of a skill begins with.
    fn begin_call(&self, client: &Client, place: usize) -> Call {
        let mut call = self.beginnings[place].clone();
        call.limits = client.narrow_limits(call.limits);
        call.at_most = client.grants().cloned();
        call
    }

    /// What a call may use: the server's limits, narrowed by the client's token and by the request.
    fn limits_for(&self, client: &Client, place: usize, request: &CallRequest) -> Result<Limits, CallError> {
        let limits = client.narrow_limits(self.beginnings[place].limits.clone());
        // Counting instructions takes a second compilation of the runtime, which no client may cause.
        if request.limits.fuel.is_some() && limits.fuel.is_none() {
            return Err(CallError::NotOffered("fuel"));
        }
        Ok(request.limits.narrow(limits))
    }

    fn not_queued(&self, why: NotQueued) -> CallError {
        match why {
            NotQueued::Full => CallError::Busy { retry_after: self.retry_after() },
            NotQueued::Closed => CallError::ShuttingDown,
        }
    }

    /// When what waits now will be done, if calls go on taking as long as they did; from a second to a minute.
    fn retry_after(&self) -> Duration {
        let (waiting, running) = self.workers.queue().load();
        let latency = self.activity.latency();
        let mean = latency.sum().as_secs_f64() / latency.count().max(1) as f64;
        let seconds = mean * (waiting + running) as f64 / self.workers.count() as f64;
        Duration::from_secs(seconds.ceil().clamp(1.0, 60.0) as u64)
    }
}

/// A call on its way to a worker.
struct Job {
    inner: Arc<Inner>,
    client: Client,
    place: usize,
    request: CallRequest,
    session: Option<Session>,
    asked: Instant,
}

impl Job {
    /// On a worker's thread.
    fn make_call(self) -> Result<Report, CallError> {
        let Job { inner, client, place, mut request, session, asked } = self;
        let skill = &inner.catalogue.find(&request.skill).ok_or(CallError::Failed)?.1;
        let (waited, started) = (asked.elapsed(), Instant::now());
        let parties = Parties { skill: skill.id(), client: client.name.as_deref() };
        let mut call = request.enter(inner.begin_call(&client, place))?;
        call.config = request.config;
        call.limits = request.limits.narrow(call.limits);
        // The client waits since it asked.
        call.limits.deadline = call.limits.deadline.saturating_sub(waited);
        if call.limits.deadline.is_zero() {
            return Err(CallError::Busy { retry_after: inner.retry_after() });
        }
        call.cancel = request.cancel;
        call.session = session;
        call.on_output = request.on_output;
        call.audit = call.audit.for_request(request.origin.map(|origin| origin.by(client.name.as_deref())));
        let number = inner.activity.tell_start(parties, waited);
        if let Some(tell) = request.on_start {
            tell();
        }
        let mut made = inner.host.call(skill, &call);
        inner.activity.tell_end(number, parties, [waited, started.elapsed()], made.as_ref().ok());
        if let (Ok(report), false) = (&mut made, client.is_operator()) {
            hide_operators_words(report);
        }
        Ok(made?)
    }
}

/// Takes out of a report what only the operator can act on, and what names this machine's files.
fn hide_operators_words(report: &mut Report) {
    for denial in &mut report.denials {
        (denial.hint, denial.flag) = (None, None);
    }
    report.unused_grants.clear();
}

/// A call whose future is alive. Dropped before its end, it cancels the call.
struct Pending<'a> {
    inner: &'a Arc<Inner>,
    owner: Owner,
    /// Of its job in the queue, until that is answered.
    number: Option<u64>,
    cancel: CancelToken,
}

impl Pending<'_> {
    /// Takes it out of the queue; false if a worker has it.
    fn withdraw(&mut self) -> bool {
        let withdrawn = self.number.is_some_and(|number| self.inner.workers.queue().withdraw(self.owner, number));
        if withdrawn {
            self.number = None;
        }
        withdrawn
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.number.is_some() && !self.withdraw() {
            self.cancel.cancel();
        }
    }
}
