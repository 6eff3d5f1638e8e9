//! Calls: the one way to execute a skill. It is planned, what it runs on is prepared, what it was granted is made ready,
//! it runs, and what comes of it is finished the same way whatever the tier.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::active_grants::{ActiveGrants, check_env};
use super::execute::{CallContext, Prepared, RunResult, SessionTurn};
use super::{Host, HostError, notes, on_enough_stack, params, scripts};
use crate::call::{Call, Outcome, Report};
use crate::plan::{Decision, Plan, Refused, RuledOut};
use crate::session::{Bound, NoTurn, Session, Turn};
use skillcell_door::audit::{Ended, Trail};
use skillcell_door::{Denials, Door};
use skillcell_packages::skill::Skill;
use skillcell_policy::{Denial, Tier};

/// The longest params, config and environment together, as JSON.
pub(super) const MAX_PARAMS_BYTES: usize = 64 << 20;

/// Why a plan could not be carried out.
pub(super) enum NotCarriedOut {
    /// The tier does not do, and nothing of the call ran: it is planned again without it.
    RuledOut(RuledOut),
    /// The skill raised or went over a limit while it was imported: an outcome like any other.
    Ended(Box<RunResult>),
    /// The call's session does not take it.
    Refused(Box<Denial>),
    Failed(HostError),
}

/// What came of getting a skill ready before its first call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ahead {
    /// Its calls run in this tier, on what is there now.
    Ready(Tier),
    /// Its calls would be refused.
    Refused(Refused),
    /// It raised or went over a limit while it was imported, as its calls would.
    Ended(Outcome),
}

impl<E: Into<HostError>> From<E> for NotCarriedOut {
    fn from(error: E) -> NotCarriedOut {
        NotCarriedOut::Failed(error.into())
    }
}

impl Host {
    /// Calls a skill, on this thread if it has enough stack left.
    pub fn call(&self, skill: &Skill, call: &Call) -> Result<Report, HostError> {
        on_enough_stack(|| {
            let skill = &*call.entry.of_skill(skill)?;
            let audit = call.audit.begin(skill.id(), skill.digest(), call.env.keys())?;
            let done = self.call_audited(skill, call, &audit);
            audit.record_end(done.as_ref().map(ended_of))?;
            done
        })
    }

    /// What a call of a skill would do, without making it. Nothing of the skill runs and nothing is baked.
    pub fn plan(&self, skill: &Skill, call: &Call) -> Result<Decision, HostError> {
        on_enough_stack(|| self.plan_without(&*call.entry.of_skill(skill)?, call, &[]))
    }

    /// Gets ready what calls of a skill run on, as the first of them would: its image is baked, or what another tier needs is
    /// made. Nothing of `execute` runs.
    pub fn prepare_ahead(&self, skill: &Skill, call: &Call) -> Result<Ahead, HostError> {
        on_enough_stack(|| {
            let skill = &*call.entry.of_skill(skill)?;
            let mut ruled_out = Vec::new();
            loop {
                let plan = match self.plan_without(skill, call, &ruled_out)? {
                    Decision::Planned(plan) => plan,
                    Decision::Refused(refused) => return Ok(Ahead::Refused(refused)),
                };
                match self.prepare(&skill.on(plan.runtime), call, &plan) {
                    Ok(_) => return Ok(Ahead::Ready(plan.tier)),
                    // Terminates as calls do.
                    Err(NotCarriedOut::RuledOut(out)) => ruled_out.push(out),
                    Err(NotCarriedOut::Ended(ran)) => return Ok(Ahead::Ended(ran.outcome)),
                    Err(NotCarriedOut::Refused(denial)) => {
                        return Ok(Ahead::Refused(Refused::new(plan.tier, vec![*denial])));
                    }
                    Err(NotCarriedOut::Failed(error)) => return Err(error),
                }
            }
        })
    }

    fn call_audited(&self, skill: &Skill, call: &Call, audit: &Arc<Trail>) -> Result<Report, HostError> {
        let started = Instant::now();
        check_env(call)?;
        if call.config.as_ref().is_some_and(|config| !config.is_object()) {
            return Err(HostError::ConfigNotAnObject);
        }
        let mut ruled_out = Vec::new();
        let mut report = loop {
            if call.cancel.is_cancelled() {
                break report_of(skill, Outcome::Cancelled);
            }
            let plan = match self.plan_without(skill, call, &ruled_out)? {
                Decision::Planned(plan) => plan,
                Decision::Refused(Refused { tier, denials, .. }) => {
                    audit.record_refused(&denials)?;
                    break Report { tier, denials, ..report_of(skill, Outcome::Refused) };
                }
            };
            audit.set_tier(Some(plan.tier));
            match self.carry_out(&skill.on(plan.runtime), call, &plan, audit) {
                Ok(report) => break told_why(report, *plan),
                // Terminates: each round rules out another tier, and a plan without any left is refused.
                Err(NotCarriedOut::RuledOut(out)) => {
                    audit.set_tier(None);
                    ruled_out.push(out);
                }
                Err(NotCarriedOut::Refused(denial)) => {
                    let denials = vec![*denial];
                    audit.record_refused(&denials)?;
                    break Report { denials, ..report_of(skill, Outcome::Refused) };
                }
                Err(NotCarriedOut::Ended(ran)) => {
                    break told_why(self.finish(skill, call, *ran, None), Plan { reason: None, ..*plan });
                }
                Err(NotCarriedOut::Failed(error)) => return Err(error),
            }
        };
        report.usage.wall = started.elapsed();
        Ok(report)
    }

    fn carry_out(&self, skill: &Skill, call: &Call, plan: &Plan, audit: &Arc<Trail>) -> Result<Report, NotCarriedOut> {
        let manifest = self.known_facts(skill, call)?.manifest.clone();
        let turn = call.session.as_ref().map(|session| self.enter_session(session, skill, call, plan)).transpose()?;
        let kept = turn.as_ref().and_then(Turn::kept);
        let prepared = if kept.is_some() { Prepared::Kept } else { self.prepare(skill, call, plan)? };
        self.check_mounts(skill, call, &plan.effective.grants)?;
        let grants = match kept {
            Some(kept) => kept.grants.clone(),
            None => Arc::new(ActiveGrants::activate(&plan.effective, call.map_paths)?),
        };
        audit.record_grants(&plan.granted, &plan.effective, grants.scrubber())?;
        let granted_call = grants.apply_to(call)?;
        let context = CallContext {
            skill,
            call: &granted_call,
            grants: &grants,
            audit,
            denials: Arc::new(Denials::with_trail(audit.clone())),
            validate: params::must_be_checked(&manifest, &granted_call),
            turn: turn.map(|turn| SessionTurn {
                turn,
                bound: Bound::new(self, skill, call, plan),
                grants: grants.clone(),
            }),
        };
        let mut ran = self.run(prepared, context)?;
        ran.notes.extend(scripts::note_guess(&manifest));
        if ran.tier == Tier::Wasm {
            ran.notes.extend(notes::on_wheels(self.known_facts(skill, call)?.site_on(plan.runtime).as_deref()));
        }
        ran.notes.retain(|note| !manifest.acknowledge.contains(&note.kind));
        Ok(self.finish(skill, call, ran, Some(&grants)))
    }

    /// The session's turn for this call, if the session takes it.
    fn enter_session(&self, session: &Session, skill: &Skill, call: &Call, plan: &Plan) -> Result<Turn, NotCarriedOut> {
        let turn = session.take_turn(deadline_of(call), &call.cancel).map_err(not_entered)?;
        match turn.kept() {
            Some(kept) => kept.bound.check_later(self, skill, call, plan),
            None => self
                .shared
                .sessions
                .take_place(&turn, self.machine(skill.runtime(), call.limits.fuel.is_some())?.cells()),
        }
        .map_err(NotCarriedOut::Refused)?;
        Ok(turn)
    }

    /// What every call goes through at its end: paths mapped back, secrets scrubbed, unused grants reported.
    pub(super) fn finish(&self, skill: &Skill, call: &Call, ran: RunResult, grants: Option<&ActiveGrants>) -> Report {
        let RunResult { tier, outcome, stdout, stderr, files, usage, image, denials, notes } = ran;
        let mut report =
            Report { tier, stdout, stderr, files, usage, image, denials, notes, ..report_of(skill, outcome) };
        scripts::finish_script(&call.entry, &mut report);
        report.notes.retain(|note| !call.acknowledge.contains(&note.kind));
        if let Some(grants) = grants {
            grants.map_result_paths(&mut report, &call.limits);
            grants.scrub_report(&mut report);
        }
        report
    }
}

fn not_entered(why: NoTurn) -> NotCarriedOut {
    let outcome = match why {
        NoTurn::Ended(end) => return NotCarriedOut::Refused(end.denial()),
        NoTurn::Busy => Outcome::Busy,
        NoTurn::Cancelled => Outcome::Cancelled,
    };
    NotCarriedOut::Ended(Box::new(RunResult::without_output(Tier::Wasm, outcome)))
}

/// When a call that starts now ends at the latest.
fn deadline_of(call: &Call) -> Instant {
    let now = Instant::now();
    now.checked_add(call.limits.deadline).unwrap_or(now + Duration::from_secs(1 << 32))
}

/// A report with what its plan says about where the call was executed.
fn told_why(report: Report, plan: Plan) -> Report {
    let in_cell = report.tier == Tier::Wasm;
    Report {
        tier_reason: plan.reason,
        runtime: in_cell.then_some(plan.runtime),
        runtime_reason: plan.runtime_reason.filter(|_| in_cell),
        ..report
    }
}

/// A report with nothing in it but how the call ended.
fn report_of(skill: &Skill, outcome: Outcome) -> Report {
    Report::new(skill.id(), outcome)
}

/// What the audit records of a call's end.
pub(super) fn ended_of(report: &Report) -> Ended<'_> {
    Ended { tier: report.tier, outcome: &report.outcome, usage: &report.usage }
}

/// The door of a call: what the skill takes its params from, and gives its result to.
pub(super) fn call_door(call: &Call, validate: bool) -> Result<Door, HostError> {
    let packed = params::pack_call(call, validate);
    if packed.len() > MAX_PARAMS_BYTES {
        return Err(HostError::ParamsTooLarge { got: packed.len(), cap: MAX_PARAMS_BYTES });
    }
    Ok(Door { call: packed, result_cap: call.limits.result_bytes, ..Door::default() })
}
