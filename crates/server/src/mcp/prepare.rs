//! What happens while clients are served already: the runtime is fetched and compiled, and the guest reads the manifests. On a
//! thread of its own, since that takes a minute on a machine that never ran a skill. Images are baked after that, by
//! [`Service::start_warming`].

use super::entry::Entry;
use super::shelf::Server;
use crate::{Client, Service};
use skillcell_cache::progress::Progress;
use skillcell_host::call::Call;
use skillcell_packages::skill::Skill;

/// Gets ready what every call of this service needs, and shows skills as the guest reads them. What fails is told to the
/// operator, and again by the call that needs it.
pub fn prepare_skills(server: &Server, service: &Service) {
    if let Err(error) = service.host().install() {
        server.0.watched.note(&format!("calls can't be made yet: {}", skillcell_quote::error_chain(&error)));
    }
    server.set_prepared();
    let skills: Vec<(Skill, Call)> = service.catalogue().iter().filter_map(|skill| with_call(service, skill)).collect();
    server.set_entries(skills.iter().filter_map(|(skill, call)| read_entry(service, skill, call)).collect());
    server.set_settled();
}

/// A skill with the widest call of it that a client can make.
fn with_call(service: &Service, skill: &Skill) -> Option<(Skill, Call)> {
    Some((skill.clone(), service.beginning_for(&Client::default(), skill.id())?))
}

/// What the guest reads, and what a call may do. A manifest that makes no sense stays shown as the host read it.
fn read_entry(service: &Service, skill: &Skill, call: &Call) -> Option<Entry> {
    // All that is shown of a folder of scripts is in its files.
    if skill.is_agent_skill() {
        return None;
    }
    let manifest = service.host().manifest(skill).ok()?;
    let decided = service.host().plan(skill, call).ok()?;
    Some(Entry::of_manifest(skill, manifest.raw(), Some(&decided)))
}
