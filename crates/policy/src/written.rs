//! Where each grant was written, so that the audit log can name its source. It has no effect on decisions.

use std::fmt;

use super::grants::{BadGrant, GrantKind, Grants};

/// Where a grant was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Written {
    /// On the command line.
    Flag,
    /// In a policy file; the path is empty until [`PolicyFile::with_path`](super::PolicyFile::with_path) sets it.
    File { path: String, line: usize },
    /// By approving what the skill asks for.
    Approval,
    /// By a program that uses the library and didn't say where.
    Program,
}

impl Written {
    /// Its name in the audit log.
    pub fn name(&self) -> &'static str {
        match self {
            Written::Flag => "flag",
            Written::File { .. } => "policy",
            Written::Approval => "approval",
            Written::Program => "program",
        }
    }
}

/// Where the grants of a set were written, by their texts.
///
/// All values compare equal, so that `Grants` with the same content are equal wherever they were written.
#[derive(Clone, Default)]
pub(super) struct GrantPlaces {
    texts: Vec<(GrantKind, String, Written)>,
    /// The policy files that were read, whether or not they grant anything.
    files: Vec<String>,
}

impl PartialEq for GrantPlaces {
    fn eq(&self, _: &GrantPlaces) -> bool {
        true
    }
}

impl Eq for GrantPlaces {}

impl fmt::Debug for GrantPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GrantPlaces({})", self.texts.len())
    }
}

impl GrantPlaces {
    pub fn extend(&mut self, later: GrantPlaces) {
        self.texts.extend(later.texts);
        self.files.extend(later.files);
    }

    /// The place recorded last for a text.
    fn find(&self, kind: GrantKind, text: &str) -> Option<&Written> {
        self.texts
            .iter()
            .rev()
            .find(|(known, known_text, _)| *known == kind && known_text == text)
            .map(|(.., place)| place)
    }
}

impl Grants {
    /// Like [`add`](Grants::add), but records where the grant is written.
    pub fn add_written(&mut self, kind: GrantKind, text: &str, place: &Written) -> Result<(), BadGrant> {
        let mut one = Grants::default();
        one.add(kind, text)?;
        self.add(kind, text)?;
        self.places.texts.extend(one.texts(kind).into_iter().map(|text| (kind, text, place.clone())));
        Ok(())
    }

    /// Records this place for every grant that has none yet.
    #[must_use]
    pub fn written(mut self, place: &Written) -> Grants {
        for kind in GrantKind::ALL {
            for text in self.texts(kind) {
                if self.places.find(kind, &text).is_none() {
                    self.places.texts.push((kind, text, place.clone()));
                }
            }
        }
        self
    }

    /// Sets the path of every grant that was written in a file.
    pub(super) fn name_file(&mut self, name: &str) {
        self.places.files = vec![name.to_owned()];
        for (.., place) in &mut self.places.texts {
            if let Written::File { path, .. } = place {
                name.clone_into(path);
            }
        }
    }

    /// The paths of the policy files that these grants come from.
    pub fn policy_files(&self) -> impl Iterator<Item = &str> {
        self.places.files.iter().map(String::as_str)
    }

    /// Where a grant is written, by its text.
    pub fn place_of(&self, kind: GrantKind, text: &str) -> &Written {
        self.places.find(kind, text).unwrap_or(&Written::Program)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PolicyFile;
    use super::*;

    #[test]
    fn each_grant_knows_its_place_and_the_later_layer_has_the_last_word() {
        let file = "[grants]\nallow_http = [\n  'https://a.example.org',\n  'https://b.example.org/*',\n]\n";
        let file = PolicyFile::parse(file).expect("a policy").with_path("p.toml");
        let mut flags = Grants::default();
        flags.add(GrantKind::AllowHttp, "https://b.example.org").expect("a rule");
        flags.add(GrantKind::Secret, "KEY@b.example.org").expect("a secret");
        let both = file.grants_for("any").merged_with(flags.written(&Written::Flag));
        let place = |kind, text| both.place_of(kind, text).clone();
        let line = |line| Written::File { path: "p.toml".into(), line };
        assert_eq!(place(GrantKind::AllowHttp, "GET,HEAD https://a.example.org/*"), line(3));
        assert_eq!(place(GrantKind::AllowHttp, "GET,HEAD https://b.example.org/*"), Written::Flag);
        assert_eq!(place(GrantKind::Secret, "KEY=env:KEY@b.example.org"), Written::Flag);
        assert_eq!(place(GrantKind::Secret, "OTHER=env:KEY@b.example.org"), Written::Program);
    }

    #[test]
    fn where_it_is_written_makes_no_grant_another() {
        let mut grants = Grants::default();
        grants.add(GrantKind::Env, "REGION").expect("a variable");
        assert_eq!(grants.clone().written(&Written::Flag), grants.written(&Written::Approval));
    }
}
