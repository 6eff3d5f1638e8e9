//! The skills that are served: their ids, in a fixed order.

use std::collections::BTreeMap;

use skillcell_packages::skill::Skill;

/// Skills by id.
#[derive(Default)]
pub struct Catalogue {
    skills: BTreeMap<String, Skill>,
}

impl Catalogue {
    /// Of these; the first of those that share an id.
    pub fn new(skills: impl IntoIterator<Item = Skill>) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for skill in skills {
            catalogue.skills.entry(skill.id().to_owned()).or_insert(skill);
        }
        catalogue
    }

    /// The skill with this id.
    pub fn get(&self, id: &str) -> Option<&Skill> {
        self.skills.get(id)
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.values()
    }
}
