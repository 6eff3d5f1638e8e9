//! Where skills are looked for, in Skillware's order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use skillcell_cache::Pack;

/// How far up from the working folder a `skills` folder is looked for, the working folder included.
const LEVELS: usize = 6;

/// Folders of skills, `<root>/<category>/<name>/skill.py`, in the order in which they are searched.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<PathBuf>);

/// Why a name leads to no skill.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// It is no folder of a skill, and no id that is known.
    #[error("there is no skill `{name}`{}", suggest_similar(.similar))]
    NotFound {
        /// As it was given.
        name: String,
        /// Ids of the registry that are spelled alike, three at most, closest first.
        similar: Vec<String>,
    },
    /// It is a folder of something else.
    #[error("`{}` is a folder without a `skill.py` or a `SKILL.md`", .path.display())]
    NoSkillFile {
        /// As it was given.
        path: PathBuf,
    },
}

/// What a name leads to.
pub enum Found {
    /// A folder below a root, or one that was named.
    Folder {
        /// `category/name`, or the folder's name.
        id: String,
        /// Where it is.
        path: PathBuf,
    },
    /// A skill of the pinned registry.
    Registry {
        /// `category/name`.
        id: String,
    },
}

impl Found {
    /// `category/name`, or the folder's name.
    pub fn id(&self) -> &str {
        match self {
            Found::Folder { id, .. } | Found::Registry { id } => id,
        }
    }
}

impl Roots {
    /// The entries of `SKILLWARE_SKILL_PATH`, then `skills` in the working folder and the folders above it.
    pub fn from_env() -> Roots {
        let listed = std::env::var_os("SKILLWARE_SKILL_PATH").unwrap_or_default();
        let mut roots: Vec<PathBuf> =
            std::env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty()).collect();
        if let Ok(here) = std::env::current_dir() {
            roots.extend(here.ancestors().take(LEVELS).map(|folder| folder.join("skills")));
        }
        Roots(roots)
    }

    /// In the order in which they are searched; they need not be there.
    pub fn folders(&self) -> &[PathBuf] {
        &self.0
    }

    /// These folders, searched in this order. None is for the pinned registry alone.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Roots {
        Roots(roots.into_iter().collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }
}

pub fn find(name: &str, roots: &Roots, registry: &Pack) -> Result<Found, FindError> {
    let plain = name.trim_matches('/');
    match find_folder(name, roots) {
        Ok(Some(found)) => return Ok(found),
        Ok(None) if registry.entry(&format!("{plain}/skill.py")).is_some() => {
            return Ok(Found::Registry { id: plain.to_owned() });
        }
        Err(error @ FindError::NoSkillFile { .. }) => return Err(error),
        Ok(None) | Err(FindError::NotFound { .. }) => {}
    }
    if Path::new(name).is_dir() {
        return Err(FindError::NoSkillFile { path: name.into() });
    }
    Err(FindError::NotFound { name: name.to_owned(), similar: similar_ids(plain, registry) })
}

/// The folder that a name leads to. None if it may be an id of the registry, which is not looked at.
pub fn find_folder(name: &str, roots: &Roots) -> Result<Option<Found>, FindError> {
    let path = Path::new(name);
    if is_skill(path) {
        return Ok(Some(Found::Folder { id: id_of(path), path: path.to_owned() }));
    }
    let plain = name.trim_matches('/');
    if !is_id(plain) {
        return Err(match path.is_dir() {
            true => FindError::NoSkillFile { path: path.to_owned() },
            false => FindError::NotFound { name: name.to_owned(), similar: Vec::new() },
        });
    }
    let below = roots.0.iter().map(|root| root.join(plain)).find(|path| is_skill(path));
    Ok(below.map(|path| Found::Folder { id: plain.to_owned(), path }))
}

/// The ids in the registry.
pub fn registry_ids(registry: &Pack) -> BTreeSet<String> {
    registry.files().filter_map(|(path, _)| path.strip_suffix("/skill.py")).map(str::to_owned).collect()
}

/// Whether a folder holds a skill: of Skillware, or in the Agent Skills format.
pub(super) fn is_skill(path: &Path) -> bool {
    path.join("skill.py").is_file() || path.join("SKILL.md").is_file()
}

/// An id is a relative path that leads nowhere else.
fn is_id(name: &str) -> bool {
    !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | "..")) && !name.contains(['\\', '\0'])
}

/// What to call a skill that was given as a path: its place below a folder named `skills`, else its own name.
pub(super) fn id_of(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut names = full.iter().rev().map(|name| name.to_string_lossy().into_owned());
    let (own, category, root) = (names.next(), names.next(), names.next());
    let own = own.unwrap_or_else(|| "skill".to_owned());
    match (category, root.as_deref()) {
        (Some(category), Some("skills")) => format!("{category}/{own}"),
        _ => own,
    }
}

/// Ids that share a part of the name, closest first.
fn similar_ids(name: &str, registry: &Pack) -> Vec<String> {
    let wanted = name.rsplit('/').next().unwrap_or(name);
    let mut scored: Vec<(usize, String)> = registry_ids(registry)
        .into_iter()
        .map(|id| (edit_distance(wanted, id.rsplit('/').next().unwrap_or(&id)), id))
        .filter(|(score, _)| *score <= 2 + wanted.len() / 4)
        .collect();
    scored.sort();
    scored.into_iter().take(3).map(|(_, id)| id).collect()
}

fn suggest_similar(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!("; did you mean `{}`?", similar.join("`, `")) }
}

/// Edit distance, for suggestions.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().take(64).enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, &b) in other.iter().enumerate() {
            let change = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[other.len()]
}
