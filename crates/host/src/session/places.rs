//! How many sessions a host keeps cells for. Each holds a slot and its memory as long as it lasts, and calls without a
//! session must find slots too.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{Inner, Stage, Turn, denial};
use skillcell_policy::Denial;

/// Sessions that a host keeps, unless it is told otherwise.
const DEFAULT_SESSIONS: u32 = 64;

/// The sessions that have a cell, or are about to.
pub(crate) struct SessionPlaces {
    cap: u32,
    held: Mutex<Vec<Weak<Inner>>>,
}

impl SessionPlaces {
    pub fn new(cap: Option<u32>) -> SessionPlaces {
        SessionPlaces { cap: cap.unwrap_or(DEFAULT_SESSIONS), held: Mutex::default() }
    }

    /// A place for the session of this turn, which it has until it ends. `cells` is how many can be alive at once: sessions
    /// get half of them at most.
    pub fn take_place(&self, turn: &Turn, cells: u32) -> Result<(), Box<Denial>> {
        let cap = self.cap.min(cells / 2) as usize;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|session| session.upgrade().is_some_and(|session| session.holds_cell()));
        if held.iter().any(|session| std::ptr::eq(session.as_ptr(), Arc::as_ptr(turn.session()))) {
            return Ok(());
        }
        if held.len() >= cap {
            let hint = "close a session, or wait until one ends; a call without a session is made at once".to_owned();
            return Err(denial(format!("this host keeps {cap} sessions at once, and has as many"), Some(hint)));
        }
        held.push(Arc::downgrade(turn.session()));
        Ok(())
    }
}

impl Inner {
    /// Whether it has a cell or is about to make one. One that has outlived its bounds ends here.
    fn holds_cell(&self) -> bool {
        self.expire();
        matches!(self.lock().stage, Stage::Idle(_) | Stage::InCall { .. })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::{Session, SessionLimits};
    use super::*;
    use skillcell_limits::cancel::CancelToken;

    fn in_call(session: &Session) -> Turn {
        let soon = Instant::now() + Duration::from_secs(600);
        session.take_turn(soon, &CancelToken::default()).ok().expect("nobody else has it")
    }

    #[test]
    fn sessions_leave_half_of_the_cells_whatever_is_asked_for() {
        let places = SessionPlaces::new(Some(1000));
        let [one, two, three] = [(); 3].map(|()| Session::new(SessionLimits::default()));
        let turns = [&one, &two].map(in_call);
        assert!(turns.iter().all(|turn| places.take_place(turn, 4).is_ok()));
        assert!(places.take_place(&turns[0], 4).is_ok(), "one that has a place keeps it");
        let third = in_call(&three);
        assert!(places.take_place(&third, 4).unwrap_err().message.contains("keeps 2 sessions"));
        // A turn that made no cell gives its place back.
        drop(turns);
        assert!(places.take_place(&third, 4).is_ok());
    }
}
