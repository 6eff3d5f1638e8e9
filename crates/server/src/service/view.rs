//! What a client is shown of a skill: what it says of itself, and what a call of this client would do.

use std::time::Duration;

use serde_json::Value;

use super::{CallError, Inner, Owner, Service};
use crate::mcp::AgentSkill;
use crate::{Client, SkillCard, Warmth};
use skillcell_host::HostError;
use skillcell_host::call::Call;
use skillcell_host::plan::{Decision, PlanView};
use skillcell_limits::cancel::CancelToken;
use skillcell_packages::skill::Skill;

/// Reading a manifest takes milliseconds; the first start may take minutes.
const DEADLINE: Duration = Duration::from_secs(300);
/// What of a plan names this machine's files, or how a refusal is lifted.
const OPERATORS_KEYS: [&str; 3] = ["grants", "missing", "unused"];

/// A skill, as a client sees it.
#[derive(Debug, Clone)]
pub struct SkillView {
    /// Its id.
    pub id: String,
    /// Of every file's path and content.
    pub digest: String,
    /// [`Warmth::name`].
    pub state: &'static str,
    /// What it says of itself.
    pub card: SkillCard,
    /// The scripts that it has, if that is what it is made of.
    pub scripts: Vec<String>,
    /// What a call would do, of the first script if it has those; null if there is nothing to call. As `run --dry-run --json` has it.
    pub plan: Value,
}

impl Service {
    /// What a client sees of a skill. Nothing of the skill runs; its manifest may have to be read.
    pub async fn view_skill(&self, client: &Client, id: &str) -> Result<SkillView, CallError> {
        let found = self.inner.catalogue.find(id).filter(|(_, skill)| client.may_call(skill.id()));
        let (place, _) = found.ok_or_else(|| CallError::NoSuchSkill(id.to_owned()))?;
        let owner = Owner { client: client.number, skill: place };
        let (service, client) = (self.clone(), client.clone());
        let work = move || service.view_here(&client, place);
        self.run_queued(owner, DEADLINE, CancelToken::default(), work).await
    }

    /// What a call of this client would do; `None` if it may not see the skill. It does not wait in the queue, but blocks for as
    /// long as reading the manifest takes.
    pub(crate) fn decide_call(&self, client: &Client, id: &str) -> Option<Result<Decision, HostError>> {
        let (place, skill) = self.inner.catalogue.find(id).filter(|(_, skill)| client.may_call(skill.id()))?;
        let call = self.inner.begin_first_entry(client, place, skill)?;
        Some(self.inner.host.plan(skill, &call))
    }

    /// How far the skill with this id is.
    pub(crate) fn warmth_of(&self, id: &str) -> Option<Warmth> {
        self.inner.catalogue.find(id).map(|(place, _)| self.warmth_at(place))
    }

    fn view_here(&self, client: &Client, place: usize) -> Result<SkillView, CallError> {
        let Inner { host, catalogue, .. } = &*self.inner;
        let skill = catalogue.iter().nth(place).ok_or(CallError::Failed)?;
        let warmth = self.warmth_at(place);
        let card = match &warmth {
            Warmth::Ready(card) => (**card).clone(),
            // A manifest that can't be read says nothing; the plan says why.
            _ if skill.is_agent_skill() => {
                AgentSkill::new(skill).map(|skill| SkillCard::of_agent_skill(&skill)).unwrap_or_default()
            }
            _ => host.manifest(skill).map(|manifest| SkillCard::new(&manifest)).unwrap_or_default(),
        };
        let mut plan = match self.inner.begin_first_entry(client, place, skill) {
            Some(call) => {
                let decision = host.plan(skill, &call)?;
                serde_json::to_value(PlanView::new(skill.id(), &decision)).unwrap_or_default()
            }
            None => Value::Null,
        };
        if !client.is_operator() {
            hide_operators_keys(&mut plan);
        }
        let (id, digest) = (skill.id().to_owned(), skill.digest().to_owned());
        let of_scripts = skill.is_agent_skill().then(|| skill.scripts());
        let scripts = of_scripts.unwrap_or_default().into_iter().map(str::to_owned).collect();
        Ok(SkillView { id, digest, state: warmth.name(), card, scripts, plan })
    }
}

impl Inner {
    /// A call of `execute`, or of the first script of a folder of them, which all may do the same. None if there is none.
    fn begin_first_entry(&self, client: &Client, place: usize, skill: &Skill) -> Option<Call> {
        let call = self.begin_call(client, place);
        if !skill.is_agent_skill() {
            return Some(call);
        }
        Some(call.with_script(*skill.scripts().first()?, []))
    }
}

fn hide_operators_keys(plan: &mut Value) {
    let Some(keys) = plan.as_object_mut() else { return };
    keys.retain(|key, _| !OPERATORS_KEYS.contains(&key.as_str()));
    for denial in keys.get_mut("denials").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(denial) = denial.as_object_mut() {
            denial.retain(|key, _| !["hint", "flag"].contains(&key.as_str()));
        }
    }
}
