//! The skills that are served: their ids, in a fixed order, read once. Which they are is chosen when the server starts.

use std::path::Path;

use skillcell_host::approvals::ApprovalState;
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::{Found, Roots, Skill, skills_below};

/// Which skills to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Those that were approved, and are what was approved.
    Approved,
    /// Those that `skillcell list` shows.
    All,
    /// These: ids, paths of skills, or folders with skills below them.
    Named(Vec<String>),
}

/// Skills by id.
#[derive(Default)]
pub struct Catalogue {
    /// Sorted by id.
    skills: Vec<Skill>,
    left_out: Vec<LeftOut>,
}

/// A skill that was meant to be served and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its id, or how it was named.
    pub skill: String,
    /// Why, in a sentence.
    pub why: String,
}

impl Catalogue {
    /// Of these; the first of those that share an id.
    pub fn new(skills: impl IntoIterator<Item = Skill>) -> Catalogue {
        let mut catalogue = Catalogue { skills: skills.into_iter().collect(), left_out: Vec::new() };
        catalogue.skills.sort_by(|one, other| one.id().cmp(other.id()));
        catalogue.skills.dedup_by(|later, first| later.id() == first.id());
        catalogue
    }

    /// Finds and reads the selected skills. One that was named and can't be read is an error; another is left out.
    pub fn load(host: &Host, selection: &Selection) -> Result<Catalogue, HostError> {
        match selection {
            Selection::Approved => load_approved(host),
            Selection::All => load_found(host, list_skills(host)?),
            Selection::Named(names) => {
                let mut skills = Vec::new();
                for name in names {
                    match host.skill(name) {
                        Ok(skill) => skills.push(skill),
                        Err(error) => skills.extend(skills_in_folder(name).ok_or(error)?),
                    }
                }
                Ok(Catalogue::new(skills))
            }
        }
    }

    /// The skill with this id.
    pub fn get(&self, id: &str) -> Option<&Skill> {
        self.find(id).map(|(_, skill)| skill)
    }

    /// The skill with this id, and its place in the order.
    pub(crate) fn find(&self, id: &str) -> Option<(usize, &Skill)> {
        let place = self.skills.binary_search_by(|skill| skill.id().cmp(id)).ok()?;
        Some((place, &self.skills[place]))
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// What was meant to be served and is not.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }
}

/// What `skillcell list` shows: folders before the registry.
fn list_skills(host: &Host) -> Result<Vec<Found>, HostError> {
    let mut found = host.folder_skills();
    let is_shadowed = |id: &str, found: &[Found]| found.iter().any(|own| own.id() == id);
    let ids: Vec<String> = host.registry_ids()?.into_iter().filter(|id| !is_shadowed(id, &found)).collect();
    found.extend(ids.into_iter().map(|id| Found::Registry { id }));
    Ok(found)
}

fn load_found(host: &Host, found: Vec<Found>) -> Result<Catalogue, HostError> {
    let (mut skills, mut left_out) = (Vec::new(), Vec::new());
    for one in found {
        let read = match &one {
            Found::Folder { id, path } => Skill::from_folder(id, path),
            Found::Registry { id } => Skill::from_registry(host.registry()?, id),
        };
        match read {
            Ok(skill) => skills.push(skill),
            Err(error) => left_out.push(LeftOut { skill: one.id().to_owned(), why: error.to_string() }),
        }
    }
    Ok(Catalogue { left_out, ..Catalogue::new(skills) })
}

/// A folder that is no skill itself, with skills below it.
pub(crate) fn skills_in_folder(name: &str) -> Option<Vec<Skill>> {
    let folder = Path::new(name);
    let found = folder.is_dir().then(|| skills_below(&Roots::new([folder.to_owned()])))?;
    let skills = found.iter().filter_map(|found| match found {
        Found::Folder { id, path } => Skill::from_folder(id, path).ok(),
        Found::Registry { .. } => None,
    });
    Some(skills.collect()).filter(|skills: &Vec<Skill>| !skills.is_empty())
}

fn load_approved(host: &Host) -> Result<Catalogue, HostError> {
    let Some(approvals) = host.approvals() else { return Ok(Catalogue::default()) };
    let (mut skills, mut left_out) = (Vec::new(), Vec::new());
    for approval in approvals.all()?.iter() {
        let mut leave_out = |why: String| left_out.push(LeftOut { skill: approval.skill.clone(), why });
        let read = match approval.place.strip_prefix("registry:") {
            Some(id) => Skill::from_registry(host.registry()?, id),
            None => Skill::from_folder(&approval.skill, Path::new(&approval.place)),
        };
        match read {
            Err(error) => leave_out(error.to_string()),
            Ok(skill) => match host.approval_standing(&skill)? {
                ApprovalState::Approved(_) => skills.push(skill),
                _ => leave_out("it is no longer what was approved".to_owned()),
            },
        }
    }
    Ok(Catalogue { left_out, ..Catalogue::new(skills) })
}
