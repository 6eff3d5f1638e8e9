//! A session: one cell that is kept from call to call, for skills that hold state. It is a field of a call; what happens
//! in each call is [`Host::call`](crate::Host::call)'s.
//!
//! ```text
//!   New ──▶ InCall ──▶ Idle ──▶ InCall ──▶ …
//!    │        │          │
//!    └────────┴──────────┴──▶ Ended: closed, idle too long, too old, a limit, a cancellation, a crash, a failure
//! ```
//!
//! Invariant: a session has at most one cell, ever. Once it ended there is nothing left of that, and no call with the
//! session is made again: never a fresh cell in place of the one that is gone.

mod bound;
mod places;
mod turn;

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use self::bound::Bound;
pub(crate) use self::places::SessionPlaces;
pub(crate) use self::turn::{Kept, NoTurn, Turn};
use skillcell_limits::LimitKind;
use skillcell_limits::outcome::Outcome;
use skillcell_policy::{Denial, DenialKind};

/// How long a session may last.
///
/// Defaults: 10 minutes without a call, an hour in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// From the end of a call to the start of the next one; also from the making of the session to its first call.
    pub idle: Duration,
    /// From the making of the session. A call that began before is let go on, to its own deadline.
    pub lifetime: Duration,
}

impl SessionLimits {
    /// Other bounds than the default ones.
    pub fn new(idle: Duration, lifetime: Duration) -> SessionLimits {
        SessionLimits { idle, lifetime }
    }
}

impl Default for SessionLimits {
    fn default() -> SessionLimits {
        SessionLimits { idle: Duration::from_secs(600), lifetime: Duration::from_secs(3600) }
    }
}

/// One cell, kept across the calls that carry this in [`Call::session`](crate::call::Call::session). Clones are the same
/// session. Dropping the last one drops the cell.
///
/// The first call makes the cell and binds the session: to the host, the skill's content, what holds of the grants,
/// `config`, `env`, `map_paths`, and whether fuel is counted. A later call that differs in one of them is refused, and the session
/// goes on. The skill's instance, its modules and scratch files stay; params, output, deadline and counts are each call's
/// own. Of memory, scratch space and open files a later call may have less than the first, never more.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    limits: SessionLimits,
    made: Instant,
    state: Mutex<State>,
    /// A call ended, or the session did.
    changed: Condvar,
}

struct State {
    stage: Stage,
    last_used: Instant,
}

enum Stage {
    /// There was no call yet, or none that got as far as a cell.
    New,
    /// Its cell is with a call.
    InCall {
        closed: bool,
    },
    /// Its cell waits for the next call.
    Idle(Box<Kept>),
    Ended(SessionEnd),
}

/// Why there are no more calls in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEnd {
    /// [`Session::close`].
    Closed,
    /// There was no call for [`SessionLimits::idle`].
    Idle,
    /// It is older than [`SessionLimits::lifetime`].
    Lifetime,
    /// A call went over a limit.
    Limit(LimitKind),
    /// A call was cancelled while it ran.
    Cancelled,
    /// The interpreter crashed, or the skill ended it.
    Crashed,
    /// The host failed while a call ran, or before it could.
    Failed,
}

impl fmt::Display for SessionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionEnd::Closed => f.write_str("it was closed"),
            SessionEnd::Idle => f.write_str("it had no call for too long"),
            SessionEnd::Lifetime => f.write_str("its lifetime is over"),
            SessionEnd::Limit(limit) => write!(f, "a call in it went over a limit: {limit}"),
            SessionEnd::Cancelled => f.write_str("a call in it was cancelled"),
            SessionEnd::Crashed => f.write_str("its interpreter crashed or was ended by the skill"),
            SessionEnd::Failed => f.write_str("the host failed in a call of it"),
        }
    }
}

impl SessionEnd {
    /// What a call's outcome does to its session; nothing where the call ended by itself.
    pub(crate) fn of_outcome(outcome: &Outcome) -> Option<SessionEnd> {
        match outcome {
            Outcome::Returned(_) => None,
            Outcome::Raised(raised) => raised.is_crash().then_some(SessionEnd::Crashed),
            Outcome::Exceeded(limit, _) => Some(SessionEnd::Limit(*limit)),
            Outcome::Cancelled => Some(SessionEnd::Cancelled),
            _ => Some(SessionEnd::Failed),
        }
    }

    /// The refusal of a call that comes too late.
    pub(crate) fn denial(self) -> Box<Denial> {
        let hint = "begin another session; what this one held is gone".to_owned();
        denial(format!("the session has ended: {self}"), Some(hint))
    }
}

/// The refusal of a call because of its session.
fn denial(message: String, hint: Option<String>) -> Box<Denial> {
    let asked = "session".to_owned();
    Box::new(Denial { kind: DenialKind::Session, asked, rule: None, message, hint, flag: None })
}

impl Session {
    /// A session without a cell: its first call makes one.
    pub fn new(limits: SessionLimits) -> Session {
        let made = Instant::now();
        let state = Mutex::new(State { stage: Stage::New, last_used: made });
        Session(Arc::new(Inner { limits, made, state, changed: Condvar::new() }))
    }

    /// Ends it. A call that runs goes on to its own end, and its cell is dropped then.
    pub fn close(&self) {
        let mut state = self.0.lock();
        let kept = match &mut state.stage {
            Stage::Ended(_) => return,
            Stage::InCall { closed } => {
                *closed = true;
                None
            }
            stage => Some(std::mem::replace(stage, Stage::Ended(SessionEnd::Closed))),
        };
        drop(state);
        // Unmapping a cell takes a while: not under the lock.
        drop(kept);
        self.0.changed.notify_all();
    }

    /// Why it ended, if it did. One that has outlived its bounds ends here, and gives its cell back.
    pub fn ended(&self) -> Option<SessionEnd> {
        self.0.expire();
        match self.0.lock().stage {
            Stage::Ended(end) => Some(end),
            Stage::InCall { closed: true } => Some(SessionEnd::Closed),
            _ => None,
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it if it is past its bounds and no call runs.
    fn expire(&self) {
        let mut state = self.lock();
        let end = match state.stage {
            Stage::New | Stage::Idle(_) => self.bound_passed(&state),
            Stage::InCall { .. } | Stage::Ended(_) => None,
        };
        let kept = end.map(|end| std::mem::replace(&mut state.stage, Stage::Ended(end)));
        drop(state);
        drop(kept);
    }

    fn bound_passed(&self, state: &State) -> Option<SessionEnd> {
        if self.made.elapsed() >= self.limits.lifetime {
            return Some(SessionEnd::Lifetime);
        }
        (state.last_used.elapsed() >= self.limits.idle).then_some(SessionEnd::Idle)
    }
}
