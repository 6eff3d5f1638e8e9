//! Which skills there are: every id that [`find`](super::find) would lead to, each once, in the order of the search.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::find::{Found, Roots, is_skill};

/// An id has a category and a name, or a name alone; a level more than that is looked at.
const MAX_DEPTH: usize = 3;
/// The most directory entries that are visited below one root, which may be a whole home folder.
const MAX_ENTRIES: usize = 20_000;

/// The skills below these roots. An id that an earlier root has is not listed again: it would not be found there.
pub fn skills_below(roots: &Roots) -> Vec<Found> {
    let (mut listed, mut seen) = (Vec::new(), BTreeSet::new());
    for root in roots.iter() {
        let mut walk = Walk { found: Vec::new(), left: MAX_ENTRIES };
        walk.walk_folder(root, "", 0);
        walk.found.sort();
        for (id, path) in walk.found {
            if seen.insert(id.clone()) {
                listed.push(Found::Folder { id, path });
            }
        }
    }
    listed
}

struct Walk {
    found: Vec<(String, PathBuf)>,
    left: usize,
}

impl Walk {
    /// A folder that can't be read has nothing that could be found. Links are followed, as they are when a skill is looked
    /// for; the depth bounds where they lead.
    fn walk_folder(&mut self, folder: &Path, id: &str, depth: usize) {
        if depth > 0 && is_skill(folder) {
            self.found.push((id.to_owned(), folder.to_owned()));
            return;
        }
        if depth == MAX_DEPTH {
            return;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let (name, path) = (entry.file_name(), entry.path());
            let is_category = |name: &&str| !name.starts_with('.') && *name != "__pycache__" && path.is_dir();
            if let Some(name) = name.to_str().filter(is_category) {
                let below = if id.is_empty() { name.to_owned() } else { format!("{id}/{name}") };
                self.walk_folder(&path, &below, depth + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(root: &Path, id: &str) {
        fs::create_dir_all(root.join(id)).unwrap();
        fs::write(root.join(id).join("skill.py"), "").unwrap();
    }

    fn listed(roots: &[&Path]) -> Vec<(String, PathBuf)> {
        let roots = Roots::new(roots.iter().map(|root| root.to_path_buf()));
        let own = |found| match found {
            Found::Folder { id, path } => Some((id, path)),
            Found::Registry { .. } => None,
        };
        skills_below(&roots).into_iter().filter_map(own).collect()
    }

    #[test]
    fn an_id_is_listed_where_it_would_be_found() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (root, id) in [(&first, "office/mail"), (&second, "office/mail"), (&second, "alone"), (&second, "a/b/c")] {
            skill(root.path(), id);
        }
        skill(second.path(), "office/mail/inner");
        skill(second.path(), ".hidden/x");
        let place = |root: &tempfile::TempDir, id: &str| (id.to_owned(), root.path().join(id));
        let expected = [place(&first, "office/mail"), place(&second, "a/b/c"), place(&second, "alone")];
        assert_eq!(listed(&[first.path(), Path::new("/nonexistent"), second.path()]), expected);
    }

    #[test]
    fn links_in_circles_come_to_an_end() {
        let root = tempfile::tempdir().unwrap();
        skill(root.path(), "x/y");
        std::os::unix::fs::symlink(root.path(), root.path().join("round")).unwrap();
        let ids: Vec<String> = listed(&[root.path()]).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["round/x/y", "x/y"]);
    }
}
