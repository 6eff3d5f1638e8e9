//! `Host`: what a Python program holds on to.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use skillcell::CancelToken;
use skillcell::settings::{CallDefaults, Settings};

use crate::errors::Failure;
use crate::inbox::Inbox;
use crate::job::{Job, SkillRef, catch_panic, wait_for_signals};
use crate::json;
use crate::options::{CallOptions, HostOptions};
use crate::plan::Plan;
use crate::process::{OfProcess, is_main_thread};
use crate::program::Program;
use crate::report::Report;
use crate::skill::Skill;
use crate::traps;
use crate::workers::Workers;

/// Runs skills in cells. `skillcell.Host` is this class, with `acall`.
#[pyclass(frozen, subclass, module = "skillcell._skillcell")]
pub struct Host {
    settings: Settings,
    threads: usize,
    /// Locked only by threads that hold the GIL, and only for a moment: `fork` never finds it locked.
    current: Mutex<OfProcess<Arc<Running>>>,
}

/// What a host has in one process.
struct Running {
    host: skillcell::Host,
    defaults: CallDefaults,
    workers: Workers,
}

#[pymethods]
impl Host {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(options: Option<&Bound<'_, PyDict>>) -> PyResult<Host> {
        let HostOptions { overrides, threads } = HostOptions::read(options)?;
        let settings = Settings::load(overrides).map_err(Failure::from)?;
        settings.check_grants().map_err(Failure::from)?;
        traps::install_handlers()?;
        let running = Running::start(&settings, threads)?;
        Ok(Host { settings, threads, current: Mutex::new(OfProcess::new(Arc::new(running))) })
    }

    /// Finds a skill by path or id, and reads its files. Raises `HostError` if there is none.
    fn skill(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Skill> {
        let (running, name) = (self.running()?, read_name(name)?);
        let find = move || Ok(Skill { skill: running.host.skill(&name)? });
        self.wait(py, &CancelToken::default(), find)
    }

    /// Calls a skill with these params, and waits for the report. Other threads run meanwhile. In the main thread, Ctrl-C
    /// ends the call.
    #[pyo3(signature = (skill, params=None, **options))]
    fn call(
        &self,
        py: Python<'_>,
        skill: &Bound<'_, PyAny>,
        params: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Report> {
        let (running, job) = (self.running()?, read_job(skill, params, options)?);
        let cancel = job.cancel.clone();
        self.wait(py, &cancel, move || job.make_call(&running.host, &running.defaults)).map(Report::new)
    }

    /// What a call would do, without making it: which tier, which grants hold, or why it would be refused.
    #[pyo3(signature = (skill, params=None, **options))]
    fn plan(
        &self,
        py: Python<'_>,
        skill: &Bound<'_, PyAny>,
        params: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Plan> {
        let (running, job) = (self.running()?, read_job(skill, params, options)?);
        let cancel = job.cancel.clone();
        let (skill, decision) = self.wait(py, &cancel, move || job.make_plan(&running.host, &running.defaults))?;
        Ok(Plan::new(skill, decision))
    }

    /// Has a worker make a call, whose report the inbox will give to the future.
    #[pyo3(signature = (inbox, future, skill, params, options))]
    fn _start(
        &self,
        inbox: &Inbox,
        future: Py<PyAny>,
        skill: &Bound<'_, PyAny>,
        params: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Cancellation> {
        let (running, job) = (self.running()?, read_job(skill, params, options)?);
        let (token, mailbox, id) = (job.cancel.clone(), inbox.mailbox(), inbox.expect_report(future));
        let theirs = running.clone();
        let work = move || {
            let finished = catch_panic(|| job.make_call(&theirs.host, &theirs.defaults));
            mailbox.leave(id, finished);
        };
        running.workers.submit(Box::new(work)).map_err(Failure::Thread)?;
        Ok(Cancellation { token })
    }
}

impl Host {
    /// What this process has of the host; after a `fork` the child makes its own.
    fn running(&self) -> Result<Arc<Running>, Failure> {
        traps::restore_handlers();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = current.get() {
            return Ok(running.clone());
        }
        let running = Arc::new(Running::start(&self.settings, self.threads)?);
        *current = OfProcess::new(running.clone());
        Ok(running)
    }

    /// Does the work without the GIL: on this thread, or by a worker where this one has to look at signals.
    fn wait<T: Send + 'static>(
        &self,
        py: Python<'_>,
        cancel: &CancelToken,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        if is_main_thread(py)? {
            return wait_for_signals(py, &self.running()?.workers, cancel, work);
        }
        Ok(py.detach(|| catch_panic(work))?)
    }
}

impl Running {
    fn start(settings: &Settings, threads: usize) -> Result<Running, Failure> {
        let host = settings.host_builder()?.build()?;
        Ok(Running { host, defaults: settings.call_defaults()?, workers: Workers::new(threads) })
    }
}

fn read_job(
    skill: &Bound<'_, PyAny>,
    params: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Job> {
    let skill = match (skill.cast::<Skill>(), skill.cast::<Program>()) {
        (Ok(found), _) => SkillRef::Found(found.get().skill.clone()),
        (_, Ok(program)) => SkillRef::Program(program.get().parts.clone()),
        _ => SkillRef::Named(read_name(skill)?),
    };
    let params = match params {
        Some(params) => json::encode_object("params", params)?,
        None => "{}".to_owned(),
    };
    Ok(Job { skill, params, options: CallOptions::read(options)?, cancel: CancelToken::new() })
}

/// A skill's name: a text, or a path.
fn read_name(name: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = name.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    let path = name.call_method0("__fspath__").and_then(|path| path.extract::<String>());
    path.map_err(|_| PyTypeError::new_err("a skill is a `Skill`, or the text or path that names one"))
}

/// Ends a call that was started for an event loop.
#[pyclass(frozen, module = "skillcell._skillcell")]
pub struct Cancellation {
    token: CancelToken,
}

#[pymethods]
impl Cancellation {
    /// Ends the call, if it has not ended.
    fn cancel(&self) {
        self.token.cancel();
    }
}
