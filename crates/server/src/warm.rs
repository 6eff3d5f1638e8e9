//! Getting skills ready before they are called: images are baked, and manifests read, by a few threads in the background.
//! A skill that can't be got ready holds nobody up: its calls say why.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde::Serialize;
use serde_json::Value;

use super::Service;
use super::mcp::AgentSkill;
use skillcell_host::Ahead;
use skillcell_host::HostError;
use skillcell_host::call::Call;
use skillcell_packages::skill::Skill;
use skillcell_policy::manifest::Manifest;

/// Images of more scripts than this are made when they are called.
const MAX_WARMED_SCRIPTS: usize = 32;

/// What a skill says of itself, as PyYAML in the guest read it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SkillCard {
    /// What it calls itself.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// What it does, in short.
    pub summary: Option<String>,
    /// The JSON Schema of its params.
    pub parameters: Option<Value>,
    /// What it asks for, as its manifest has it; none if it does not say.
    pub permissions: Option<Value>,
}

/// How far a skill is.
#[derive(Debug, Clone)]
pub enum Warmth {
    /// Its image is not there yet.
    Waiting,
    /// Its next call starts from an image, or from what its tier needs.
    Ready(Arc<SkillCard>),
    /// Every call of it is refused, as things are granted: nothing is broken, and there is nothing to get ready. The reason is
    /// for the operator.
    Refused(String),
    /// It can't be got ready; the reason is for the operator.
    Failed(String),
}

impl Warmth {
    /// In a word.
    pub fn name(&self) -> &'static str {
        match self {
            Warmth::Waiting => "waiting",
            Warmth::Ready(_) => "ready",
            Warmth::Refused(_) => "refused",
            Warmth::Failed(_) => "failed",
        }
    }
}

/// How far each skill is, in the catalogue's order.
pub(crate) struct WarmUp {
    skills: Mutex<Vec<Warmth>>,
    /// The next one to get ready.
    next: AtomicUsize,
}

impl WarmUp {
    pub fn new(skills: usize) -> WarmUp {
        WarmUp { skills: Mutex::new(vec![Warmth::Waiting; skills]), next: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Warmth>> {
        self.skills.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Gets the skills ready, on this many threads. Returns at once; `done` is called when all were tried.
    pub fn start_warming(&self, threads: usize, done: impl FnOnce() + Send + 'static) {
        let service = self.clone();
        let work = move || {
            thread::scope(|scope| {
                (0..threads.max(1)).for_each(|_| drop(scope.spawn(|| service.warm_skills())));
            });
            done();
        };
        // Without a thread for it, calls bake as they come.
        let _ = thread::Builder::new().name("warm".to_owned()).spawn(work);
    }

    /// How far each skill is, by id.
    pub fn warmth(&self) -> Vec<(String, Warmth)> {
        let ids = self.catalogue().iter().map(|skill| skill.id().to_owned());
        ids.zip(self.warm_up().lock().iter().cloned()).collect()
    }

    /// Whether every skill was got ready, is refused, or can't be.
    pub fn is_warm(&self) -> bool {
        !self.warm_up().lock().iter().any(|warmth| matches!(warmth, Warmth::Waiting))
    }

    /// How far the skill with this place in the catalogue is.
    pub(crate) fn warmth_at(&self, place: usize) -> Warmth {
        self.warm_up().lock()[place].clone()
    }

    fn warm_skills(&self) {
        loop {
            let place = self.warm_up().next.fetch_add(1, Ordering::Relaxed);
            let Some(skill) = self.catalogue().iter().nth(place) else { return };
            let warmth = self.warm_skill(skill).unwrap_or_else(|error| Warmth::Failed(error.to_string()));
            self.warm_up().lock()[place] = warmth;
        }
    }

    fn warm_skill(&self, skill: &Skill) -> Result<Warmth, HostError> {
        let call = self.operators_call(skill.id());
        if let Some(agent_skill) = AgentSkill::new(skill) {
            return self.warm_scripts(skill, &agent_skill, call);
        }
        let card = || Ok(SkillCard::new(&self.host().manifest(skill)?));
        self.warm_entry(skill, &call, card)
    }

    /// A folder of scripts is ready if one of them is: each says by itself why it can't be run.
    fn warm_scripts(&self, skill: &Skill, agent_skill: &AgentSkill, call: Call) -> Result<Warmth, HostError> {
        let card = SkillCard::of_agent_skill(agent_skill);
        let mut warmth = None;
        for script in skill.scripts().into_iter().take(MAX_WARMED_SCRIPTS) {
            let call = call.clone().with_script(script, []);
            let one = self.warm_entry(skill, &call, || Ok(card.clone()));
            let one = one.unwrap_or_else(|error| Warmth::Failed(error.to_string()));
            if !matches!(warmth, Some(Warmth::Ready(_))) {
                warmth = Some(one);
            }
        }
        Ok(warmth.unwrap_or(Warmth::Ready(Arc::new(card))))
    }

    fn warm_entry(
        &self,
        skill: &Skill,
        call: &Call,
        card: impl FnOnce() -> Result<SkillCard, HostError>,
    ) -> Result<Warmth, HostError> {
        Ok(match self.host().prepare_ahead(skill, call)? {
            Ahead::Ready(_) => Warmth::Ready(Arc::new(card()?)),
            Ahead::Refused(refused) => {
                let why: Vec<&str> = refused.denials.iter().map(|denial| denial.message.as_str()).collect();
                Warmth::Refused(why.join("; "))
            }
            Ahead::Ended(outcome) => Warmth::Failed(format!("it can't be imported: {}", outcome.describe())),
            _ => Warmth::Failed("it can't be got ready".to_owned()),
        })
    }
}

impl SkillCard {
    pub(crate) fn of_agent_skill(skill: &AgentSkill) -> SkillCard {
        let text = |key: &str| skill.says(key).map(str::to_owned);
        SkillCard { name: text("name"), summary: text("description"), ..SkillCard::default() }
    }

    pub(crate) fn new(manifest: &Manifest) -> SkillCard {
        let permissions = manifest.raw().get("permissions").cloned();
        let Manifest { name, version, summary, parameters, .. } = manifest.clone();
        SkillCard { name, version, summary, parameters, permissions }
    }
}
