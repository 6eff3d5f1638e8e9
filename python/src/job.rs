//! A call to be made: everything that was taken from Python for it, so that making it needs no Python.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

use skillcell::settings::CallDefaults;
use skillcell::{Call, CancelToken, Decision};

use crate::errors::Failure;
use crate::options::CallOptions;
use crate::program::ProgramParts;
use crate::workers::Workers;

/// How often a thread that waits looks whether a signal arrived.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a cancelled call is waited for.
const CANCEL_TIME: Duration = Duration::from_secs(5);

/// A skill that was found before, the name of one, or a program in its place.
pub enum SkillRef {
    Found(skillcell::Skill),
    Named(String),
    Program(Arc<ProgramParts>),
}

/// One call, without what it is made on.
pub struct Job {
    pub skill: SkillRef,
    pub params: String,
    pub options: CallOptions,
    pub cancel: CancelToken,
}

impl Job {
    /// Makes the call.
    pub fn make_call(self, host: &skillcell::Host, defaults: &CallDefaults) -> Result<skillcell::Report, Failure> {
        let (skill, call) = self.into_call(host, defaults)?;
        Ok(host.call(&skill, &call)?)
    }

    /// Decides about the call, without making it. Also the skill's id.
    pub fn make_plan(self, host: &skillcell::Host, defaults: &CallDefaults) -> Result<(String, Decision), Failure> {
        let (skill, call) = self.into_call(host, defaults)?;
        Ok((skill.id().to_owned(), host.plan(&skill, &call)?))
    }

    fn into_call(self, host: &skillcell::Host, defaults: &CallDefaults) -> Result<(skillcell::Skill, Call), Failure> {
        let skill = match &self.skill {
            SkillRef::Found(skill) => skill.clone(),
            SkillRef::Named(name) => host.skill(name)?,
            SkillRef::Program(program) => program.find_skill(host)?,
        };
        let mut call = match &self.skill {
            SkillRef::Program(program) => program.enter(defaults.call(skill.id())),
            _ => defaults.call(skill.id()).with_params(&self.params)?,
        };
        self.options.apply_to(&mut call)?;
        call.cancel = self.cancel;
        Ok((skill, call))
    }
}

/// Does the work, and makes a panic in it a failure.
pub fn catch_panic<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Failure::Panicked))
}

/// Has a worker do the work, and runs Python's signal handlers meanwhile. If one raises, as Ctrl-C's does, the work is
/// cancelled, and that exception is what comes of it.
pub fn wait_for_signals<T: Send + 'static>(
    py: Python<'_>,
    workers: &Workers,
    cancel: &CancelToken,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let answer = Arc::new(Answer::default());
    let theirs = answer.clone();
    workers.submit_urgent(Box::new(move || theirs.give(catch_panic(work)))).map_err(Failure::Thread)?;
    loop {
        if let Some(done) = py.detach(|| answer.wait(SIGNAL_INTERVAL)) {
            return Ok(done?);
        }
        if let Err(raised) = py.check_signals() {
            cancel.cancel();
            py.detach(|| answer.wait(CANCEL_TIME));
            return Err(raised);
        }
    }
}

/// What a worker gives to the thread that waits for it.
struct Answer<T> {
    given: Mutex<Option<Result<T, Failure>>>,
    changed: Condvar,
}

impl<T> Default for Answer<T> {
    fn default() -> Answer<T> {
        Answer { given: Mutex::new(None), changed: Condvar::new() }
    }
}

impl<T> Answer<T> {
    fn give(&self, done: Result<T, Failure>) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        self.changed.notify_one();
    }

    fn wait(&self, time: Duration) -> Option<Result<T, Failure>> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(given, time, |given| given.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}
