//! Runs a skill's own tests: a cell for each file, entered at another function than calls are, and otherwise made,
//! bounded and granted as a call's is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::json;

use super::active_grants::{ActiveGrants, check_env};
use super::calling::{call_door, ended_of};
use super::execute::CallContext;
use super::parts::Shared;
use super::{Host, HostError, on_enough_stack};
use crate::call::{Call, Outcome, Report};
use crate::testing::{
    Chosen, FileReport, TestCall, TestReport, USAGE, choose_files, file_report, registry_surroundings, usage_report,
};
use skillcell_cell::image::Image;
use skillcell_cell::runtime::files::TEST_PACKAGES_FOLDER;
use skillcell_door::audit::Trail;
use skillcell_door::{Denials, Events};
use skillcell_packages::pack_tree;
use skillcell_packages::provision;
use skillcell_packages::skill::Skill;
use skillcell_packages::{SITE_FOLDER, SitePackages};
use skillcell_policy::{Choice, Effective, Permissions, Tier};
use skillcell_vfs::{Mount, Tree};

/// Where a cell whose tests may write sees the skill's files, to copy them.
const ORIGINAL_FOLDER: &str = "/usr/local/share/skill";

/// What every test cell starts from.
pub(super) struct TestBench {
    image: Image,
    packages: Option<Mount>,
}

/// One skill's tests, ready to run.
struct Suite<'a> {
    skill: &'a Skill,
    call: &'a TestCall,
    bench: TestBench,
    around: Option<Arc<Tree>>,
    /// What it asks for; `None` if it doesn't say.
    permissions: Option<Permissions>,
}

impl Host {
    /// Runs a skill's own pytest files, each in a fresh cell, some at once. Failing tests are no error: see
    /// [`TestReport`].
    pub fn test(&self, skill: &Skill, call: &TestCall) -> Result<TestReport, HostError> {
        self.test_with(skill, call, &|_| ())
    }

    /// The same, and `each` is told of each file's report, in the order of the files.
    pub fn test_with(
        &self,
        skill: &Skill,
        call: &TestCall,
        each: &(dyn Fn(&FileReport) + Sync),
    ) -> Result<TestReport, HostError> {
        let started = Instant::now();
        let chosen = choose_files(skill, call)?;
        let around = registry_surroundings(skill, self.registry()?)?;
        let read = on_enough_stack(|| self.static_manifest(skill))?;
        // An unreadable manifest asks for nothing.
        let permissions = read.manifest.as_ref().map_or(Some(Permissions::default()), |it| it.permissions.clone());
        let with_packages = &self.with_all_packages(&on_enough_stack(|| self.on_its_runtime(skill))?)?;
        let bench = on_enough_stack(|| self.test_bench(with_packages))?;
        let suite = Suite { skill: with_packages, call, bench, around, permissions };
        let files = self.run_files(&suite, &chosen, each)?;
        Ok(TestReport::new(skill.id(), files, started.elapsed()))
    }

    fn run_files(
        &self,
        suite: &Suite<'_>,
        chosen: &[Chosen],
        each: &(dyn Fn(&FileReport) + Sync),
    ) -> Result<Vec<FileReport>, HostError> {
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get());
        let jobs = if suite.call.jobs == 0 { cores } else { suite.call.jobs }.min(chosen.len());
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let done = Mutex::new(CompletedReports { reports: chosen.iter().map(|_| None).collect(), told: 0, count: 0 });
        self.shared.progress.step(&format!("testing {}", suite.skill.id()));
        let work = || -> Result<(), HostError> {
            while !stop.load(Ordering::Relaxed) {
                let Some((index, file)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, chosen.get(at)?)))
                else {
                    break;
                };
                let report = on_enough_stack(|| self.run_file(suite, file))
                    .inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                if suite.call.exit_first && has_failed(&report) {
                    stop.store(true, Ordering::Relaxed);
                }
                let count = done.lock().unwrap_or_else(PoisonError::into_inner).add_report(index, report, each);
                self.shared.progress.fraction(count as u64, chosen.len() as u64);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
            // This thread is one of the workers.
            let mine = work();
            let others = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            others.fold(mine, |one, other| one.and(other))
        })?;
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(done.reports.into_iter().flatten().collect())
    }

    /// One file in one cell.
    fn run_file(&self, suite: &Suite<'_>, chosen: &Chosen) -> Result<FileReport, HostError> {
        if chosen.is_script {
            return Ok(usage_report(&chosen.file, &self.call(suite.skill, &suite.usage_call(chosen))?));
        }
        let call = suite.cell_call(chosen);
        check_env(&call)?;
        let audit = call.audit.begin(suite.skill.id(), suite.skill.digest(), call.env.keys())?;
        audit.set_tier(Some(Tier::Wasm));
        self.run_tests(suite, chosen, &call, &audit)
    }

    fn run_tests(
        &self,
        suite: &Suite<'_>,
        chosen: &Chosen,
        call: &Call,
        audit: &Arc<Trail>,
    ) -> Result<FileReport, HostError> {
        let (report, events) = self.run_test_cell(suite, call, audit)?;
        Ok(file_report(&chosen.file, events, &report))
    }

    fn run_test_cell(&self, suite: &Suite<'_>, call: &Call, audit: &Arc<Trail>) -> Result<(Report, Events), HostError> {
        let started = Instant::now();
        let grants = self.grants_of_tests(suite, call, audit)?;
        let call = &*grants.apply_to(call)?;
        let baker = self.baker(suite.skill.runtime(), false)?;
        let mut door = call_door(call, false)?;
        let events = Arc::new(Mutex::new(Events::default()));
        door.tests = Some(events.clone());
        let inputs = baker.cell_inputs(suite.cell_mounts(), door, &call.limits, suite.bench.image.state.monotonic_ns);
        let cell = suite.bench.image.machine.new_cell(&suite.bench.image.memories, inputs)?;
        let entry = suite.bench.image.state.entry;
        let denials = Arc::new(Denials::with_trail(audit.clone()));
        let context =
            CallContext { skill: suite.skill, call, grants: &grants, audit, denials, validate: false, turn: None };
        let ran = self.run_cell(cell, drop, entry, started, &context);
        let done = ran.map(|ran| self.finish(suite.skill, call, ran, Some(&grants)));
        // Errors are recorded, too, before they are returned.
        audit.record_end(done.as_ref().map(ended_of))?;
        let mut report: Report = done?;
        report.usage.wall = started.elapsed();
        let mut events = std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
        grants.scrub_events(&mut events);
        Ok((report, events))
    }

    /// What each of a skill's test files calls it with, as far as they can be run. The skill has its packages.
    pub(super) fn recorded_files<'a>(
        &'a self,
        skill: &'a Skill,
        call: &'a TestCall,
    ) -> impl Iterator<Item = Vec<serde_json::Value>> + 'a {
        let suite = || -> Option<(Suite<'a>, Vec<Chosen>)> {
            let chosen = choose_files(skill, call).ok()?;
            let around = registry_surroundings(skill, self.registry().ok()?).ok()?;
            let bench = self.test_bench(skill).ok()?;
            Some((Suite { skill, call, bench, around, permissions: None }, chosen))
        };
        suite().into_iter().flat_map(move |(suite, chosen)| {
            chosen.into_iter().filter_map(move |file| {
                let call = suite.cell_call(&file);
                let audit = call.audit.begin(skill.id(), skill.digest(), call.env.keys()).ok()?;
                let (report, _) = self.run_test_cell(&suite, &call, &audit).ok()?;
                let Outcome::Returned(result) = report.outcome else { return None };
                let said: serde_json::Value = serde_json::from_str(result.get()).ok()?;
                said["calls"].as_array().cloned()
            })
        })
    }

    /// What tests may do: the call's grants, as far as the manifest asks for them if it asks at all. Nothing that it
    /// asks for has to be granted.
    fn grants_of_tests(&self, suite: &Suite<'_>, call: &Call, audit: &Arc<Trail>) -> Result<ActiveGrants, HostError> {
        let effective = Effective::of(suite.skill.id(), suite.permissions.as_ref(), &call.grants);
        let effective = Effective { missing: Vec::new(), ..effective };
        self.check_mounts(suite.skill, call, &effective.grants)?;
        let grants = ActiveGrants::activate(&effective, false)?;
        audit.record_grants(&call.grants, &effective, grants.scrubber())?;
        Ok(grants)
    }

    /// What the tests of a skill run on: its runtime, with the native libraries of its packages.
    fn test_bench(&self, skill: &Skill) -> Result<TestBench, HostError> {
        let baker = self.baker(skill.runtime(), false)?;
        let baker = baker.with_libraries_of(skill.site())?;
        let Shared { cache, fetch, progress, .. } = &*self.shared;
        let pack = provision::test_packages(cache, fetch, &**progress)?;
        let digest = pack.digest().to_string();
        let packages = Mount::tree(TEST_PACKAGES_FOLDER, Arc::new(pack_tree(pack)));
        let image = self.with_repair(|| Ok(baker.testing_image(packages.clone(), &digest)?))?;
        Ok(TestBench { image, packages })
    }
}

impl Suite<'_> {
    /// A script's own call, which is made as any other is.
    fn usage_call(&self, chosen: &Chosen) -> Call {
        let mut call = Call::script(&chosen.file, [USAGE.to_owned()]);
        call.tier = Choice::Tier(Tier::Wasm);
        call.grants = self.call.grants.clone();
        call.audit = self.call.audit.clone();
        call.limits = self.call.limits.clone();
        call.limits.fuel = None;
        call
    }

    /// Where its cells see the skill: a folder with a `SKILL.md` where its scripts see it.
    fn folder(&self) -> String {
        match self.skill.is_agent_skill() {
            true => format!("/skills/{}", self.skill.folder_name()),
            false => self.skill.guest_folder(),
        }
    }

    /// What the cell of one file is given.
    fn cell_call(&self, chosen: &Chosen) -> Call {
        let TestCall { keyword, exit_first, args, color, width, grants, audit, limits, .. } = self.call;
        let mut words: Vec<String> = keyword.iter().flat_map(|keyword| ["-k".to_owned(), keyword.clone()]).collect();
        words.extend(exit_first.then(|| "-x".to_owned()));
        words.extend(args.iter().cloned());
        let mut call = Call::new(json!({
            "folder": self.folder(),
            "copy_from": self.is_copied().then_some(ORIGINAL_FOLDER),
            "registry": self.around.is_some(),
            "packages": self.skill.site().and_then(SitePackages::mount).map(|_| SITE_FOLDER),
            "test": chosen.test,
            "args": words,
            "record": self.call.record,
            "color": color,
            "width": width,
        }));
        call.grants = grants.clone();
        call.audit = audit.clone();
        call.limits = limits.clone();
        call.limits.fuel = None;
        call
    }

    fn is_copied(&self) -> bool {
        self.call.writable && !self.skill.is_agent_skill()
    }

    fn cell_mounts(&self) -> impl Iterator<Item = Mount> {
        let place = self.folder();
        let skill = if self.is_copied() {
            vec![Mount::tree(ORIGINAL_FOLDER, self.skill.tree()), Mount::scratch(&place)]
        } else if self.skill.is_agent_skill() {
            // As its scripts have it.
            vec![Mount::seeded(&place, self.skill.tree())]
        } else {
            vec![Mount::tree(&place, self.skill.tree())]
        };
        let around = self.around.clone().and_then(|tree| Mount::tree("/", tree));
        let site = self.skill.site().and_then(SitePackages::mount);
        skill.into_iter().flatten().chain(around).chain(self.bench.packages.clone()).chain(site)
    }
}

/// The reports so far; each is passed on once all before it were.
struct CompletedReports {
    reports: Vec<Option<FileReport>>,
    told: usize,
    count: usize,
}

impl CompletedReports {
    fn add_report(&mut self, index: usize, report: FileReport, each: &dyn Fn(&FileReport)) -> usize {
        self.reports[index] = Some(report);
        self.count += 1;
        while let Some(Some(report)) = self.reports.get(self.told) {
            each(report);
            self.told += 1;
        }
        self.count
    }
}

fn has_failed(report: &FileReport) -> bool {
    !TestReport::new("", vec![report.clone()], Default::default()).ok
}
