//! Which skills there are, as far as that is known without fetching anything: what a client is shown in the first second. Skills
//! of the registry are known by their ids alone, until it is there.

use std::path::Path;

use crate::Selection;
use crate::catalogue::skills_in_folder;
use skillcell_host::approvals::ApprovalState;
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::{Found, Skill};

/// Skills that could be read at once, and ids of others.
#[derive(Default)]
pub struct Preview {
    /// Those in folders.
    pub skills: Vec<Skill>,
    /// Ids that only the registry can have.
    pub unread: Vec<String>,
}

impl Preview {
    /// Of the selected skills. A name that can't be an id, and is no folder of skills, is an error at once.
    pub fn load(host: &Host, selection: &Selection) -> Result<Preview, HostError> {
        match selection {
            Selection::Named(names) => load_named(host, names),
            Selection::All => Ok(Preview { skills: read_folders(host.folder_skills()), unread: Vec::new() }),
            Selection::Approved => load_approved(host),
        }
    }
}

fn load_named(host: &Host, names: &[String]) -> Result<Preview, HostError> {
    let mut preview = Preview::default();
    for name in names {
        match host.folder_skill(name) {
            Ok(Some(skill)) => preview.skills.push(skill),
            Ok(None) => match skills_in_folder(name) {
                Some(skills) => preview.skills.extend(skills),
                None => preview.unread.push(name.trim_matches('/').to_owned()),
            },
            Err(error) => preview.skills.extend(skills_in_folder(name).ok_or(error)?),
        }
    }
    Ok(preview)
}

fn load_approved(host: &Host) -> Result<Preview, HostError> {
    let mut preview = Preview::default();
    let Some(approvals) = host.approvals() else { return Ok(preview) };
    for approval in approvals.all()?.iter() {
        match approval.place.strip_prefix("registry:") {
            Some(id) => preview.unread.push(id.to_owned()),
            None => preview.skills.extend(Skill::from_folder(&approval.skill, Path::new(&approval.place)).ok()),
        }
    }
    // What changed since is not served, so it is not shown either.
    preview.skills.retain(|skill| approvals.standing(skill).is_ok_and(|state| is_approved(&state)));
    Ok(preview)
}

fn is_approved(state: &ApprovalState) -> bool {
    matches!(state, ApprovalState::Approved(_))
}

fn read_folders(found: Vec<Found>) -> Vec<Skill> {
    let read = found.into_iter().filter_map(|found| match found {
        Found::Folder { id, path } => Skill::from_folder(&id, &path).ok(),
        Found::Registry { .. } => None,
    });
    read.collect()
}
