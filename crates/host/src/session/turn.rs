//! A call's turn in its session: one at a time, and whatever becomes of the call, the session is left in order.

use std::sync::Arc;
use std::time::Instant;

use super::{Bound, Inner, Session, SessionEnd, Stage};
use crate::active_grants::ActiveGrants;
use crate::call::ImageUse;
use skillcell_cell::KeptCell;
use skillcell_limits::cancel::CancelToken;
use skillcell_packages::SitePackages;

/// A session's cell between calls, and what the next one needs to go on with it.
pub(crate) struct Kept {
    pub cell: KeptCell,
    /// The address of the function that a call enters.
    pub entry: u32,
    pub image: Option<ImageUse>,
    pub site: Option<Arc<SitePackages>>,
    /// Made ready once: a skill may hold on to the placeholders of its secrets.
    pub grants: Arc<ActiveGrants>,
    pub bound: Bound,
}

/// Why a call has no turn.
pub(crate) enum NoTurn {
    Ended(SessionEnd),
    /// Another call had the session until this one's deadline.
    Busy,
    /// The call was cancelled while it waited.
    Cancelled,
}

/// The session is this call's until this is dropped.
pub(crate) struct Turn {
    session: Arc<Inner>,
    /// What the session is when the turn is over.
    leave: Stage,
    /// When the call ends at the latest; waiting for the turn counts.
    pub deadline: Instant,
}

impl Session {
    /// Waits for the session, until `deadline` at the latest.
    pub(crate) fn take_turn(&self, deadline: Instant, cancel: &CancelToken) -> Result<Turn, NoTurn> {
        let session = &self.0;
        // A cancellation takes the session's lock, so the token is never touched while that is held.
        let woken = session.clone();
        let _wakes = cancel.on_cancel(move || {
            drop(woken.lock());
            woken.changed.notify_all();
        });
        session.expire();
        let mut state = session.lock();
        loop {
            match &mut state.stage {
                Stage::Ended(end) => return Err(NoTurn::Ended(*end)),
                Stage::InCall { closed: true } => return Err(NoTurn::Ended(SessionEnd::Closed)),
                Stage::InCall { .. } => {}
                stage => {
                    let leave = std::mem::replace(stage, Stage::InCall { closed: false });
                    return Ok(Turn { session: session.clone(), leave, deadline });
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if cancel.is_cancelled() {
                return Err(NoTurn::Cancelled);
            }
            if left.is_zero() {
                return Err(NoTurn::Busy);
            }
            let waited = session.changed.wait_timeout(state, left);
            state = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        }
    }
}

impl Turn {
    /// The session's cell, if an earlier call made one.
    pub fn kept(&self) -> Option<&Kept> {
        match &self.leave {
            Stage::Idle(kept) => Some(kept),
            _ => None,
        }
    }

    /// Takes the cell. If nothing is done about it from here on, the session has failed.
    pub fn take_kept(&mut self) -> Option<Box<Kept>> {
        match std::mem::replace(&mut self.leave, Stage::Ended(SessionEnd::Failed)) {
            Stage::Idle(kept) => Some(kept),
            other => {
                self.leave = other;
                None
            }
        }
    }

    /// The skill is about to run: a failure from here on ends the session.
    pub fn start_running(&mut self) {
        self.leave = Stage::Ended(SessionEnd::Failed);
    }

    /// The session goes on with this cell.
    pub fn keep(&mut self, kept: Box<Kept>) {
        self.leave = Stage::Idle(kept);
    }

    pub fn end(&mut self, end: SessionEnd) {
        self.leave = Stage::Ended(end);
    }

    pub(super) fn session(&self) -> &Arc<Inner> {
        &self.session
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut leave = std::mem::replace(&mut self.leave, Stage::New);
        let mut state = self.session.lock();
        let mut dropped = None;
        if matches!(state.stage, Stage::InCall { closed: true }) {
            dropped = Some(std::mem::replace(&mut leave, Stage::Ended(SessionEnd::Closed)));
        }
        state.stage = leave;
        state.last_used = Instant::now();
        drop(state);
        drop(dropped);
        self.session.changed.notify_all();
    }
}
