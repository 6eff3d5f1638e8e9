//! The skills of a registry: the pinned one's, or those below a folder, however deep they lie.

use std::fs;
use std::path::{Path, PathBuf};

use super::MatrixError;
use skillcell_host::Host;
use skillcell_packages::skill::Skill;

/// How many folders deep skills are searched for.
const MAX_DEPTH: usize = 5;
const MAX_SKILLS: usize = 2000;

/// Which registry to study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The one that is pinned with this program.
    Pinned,
    /// A folder: every folder below it that has a `skill.py` or a `SKILL.md` is a skill.
    Folder(PathBuf),
}

/// A skill of the registry, or why it can't be read, by id.
pub type Found = (String, Result<Skill, String>);

/// All skills whose id matches, in the order of their ids.
pub fn discover_skills(host: &Host, source: &Source, globs: &[String]) -> Result<Vec<Found>, MatrixError> {
    let wanted = |id: &str| globs.is_empty() || globs.iter().any(|glob| matches_glob(glob, id));
    let found: Vec<Found> = match source {
        Source::Pinned => {
            let ids = host.registry_ids()?.into_iter().filter(|id| wanted(id));
            ids.map(|id| {
                host.registry_skill(&id)
                    .map_err(|error| error.to_string())
                    .map_or_else(|why| (id.clone(), Err(why)), |skill| (id.clone(), Ok(skill)))
            })
            .collect()
        }
        Source::Folder(root) => {
            let mut folders = Vec::new();
            find_skill_folders(root, String::new(), 0, &mut folders)?;
            folders.sort();
            let folders = folders.into_iter().filter(|(id, _)| wanted(id));
            folders
                .map(|(id, path)| {
                    (id.clone(), Skill::from_folder(&id, &path).map_err(|error| error_with_causes(&error)))
                })
                .collect()
        }
    };
    if found.is_empty() {
        return Err(MatrixError::NoSkills { registry: source.clone(), globs: globs.to_vec() });
    }
    Ok(found)
}

fn find_skill_folders(
    folder: &Path,
    id: String,
    depth: usize,
    found: &mut Vec<(String, PathBuf)>,
) -> Result<(), MatrixError> {
    if folder.join("skill.py").is_file() || folder.join("SKILL.md").is_file() {
        let id = if id.is_empty() { name_of(folder) } else { id };
        found.push((id, folder.to_owned()));
        return Ok(());
    }
    if depth >= MAX_DEPTH || found.len() >= MAX_SKILLS {
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(|source| MatrixError::Folder { path: folder.to_owned(), source })?;
    for entry in entries.flatten() {
        // `file_type` does not follow links, which could lead anywhere, or in circles.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_folder && !name.starts_with('.') && *name != "__pycache__")
        else {
            continue;
        };
        let below = if id.is_empty() { name.to_owned() } else { format!("{id}/{name}") };
        find_skill_folders(&entry.path(), below, depth + 1, found)?;
    }
    Ok(())
}

fn name_of(folder: &Path) -> String {
    let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    full.file_name().map_or_else(|| "skill".to_owned(), |name| name.to_string_lossy().into_owned())
}

pub fn error_with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.ends_with(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

/// Whether a pattern with `*` (any text) and `?` (one character) is all of a text.
pub fn matches_glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        // Backtracks to the last star only, which is enough for globs and takes no recursion.
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            p = at + 1;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_ids() {
        assert!(
            matches_glob("office/*", "office/gmail_handler")
                && matches_glob("*", "")
                && matches_glob("*_guard", "a/b_guard")
        );
        assert!(matches_glob("a?c*e", "abcde") && !matches_glob("office", "office/x") && !matches_glob("a*b", "ac"));
    }

    #[test]
    fn skills_are_found_at_any_depth_and_links_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        for path in ["one", "category/two", "a/b/three"] {
            fs::create_dir_all(root.path().join(path)).unwrap();
            fs::write(root.path().join(path).join("skill.py"), "").unwrap();
        }
        std::os::unix::fs::symlink(root.path(), root.path().join("round")).unwrap();
        let mut found = Vec::new();
        find_skill_folders(root.path(), String::new(), 0, &mut found).unwrap();
        let mut ids: Vec<String> = found.into_iter().map(|(id, _)| id).collect();
        ids.sort();
        assert_eq!(ids, ["a/b/three", "category/two", "one"]);
    }
}
