//! What a client is shown of a skill: what it says of itself, and what a call of this client would do.

use std::time::Duration;

use serde_json::Value;

use super::{CallError, Inner, Owner, Service};
use crate::{Client, SkillCard, Warmth};
use skillcell_host::HostError;
use skillcell_host::plan::{Decision, PlanView};
use skillcell_limits::cancel::CancelToken;

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
    /// What a call would do, as `run --dry-run --json` has it.
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
        Some(self.inner.host.plan(skill, &self.inner.begin_call(client, place)))
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
            _ => host.manifest(skill).map(|manifest| SkillCard::new(&manifest)).unwrap_or_default(),
        };
        let decision = host.plan(skill, &self.inner.begin_call(client, place))?;
        let mut plan = serde_json::to_value(PlanView::new(skill.id(), &decision)).unwrap_or_default();
        if !client.is_operator() {
            hide_operators_keys(&mut plan);
        }
        let (id, digest) = (skill.id().to_owned(), skill.digest().to_owned());
        Ok(SkillView { id, digest, state: warmth.name(), card, plan })
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
