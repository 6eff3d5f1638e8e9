//! A skill's files as bytes, within bounds, and their digest. The folder is untrusted: links that lead out of it
//! are not followed, and special files are refused.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use skillcell_cache::Pack;
use skillcell_vfs::{Content, Tree};

const MAX_FILES: usize = 10_000;
const MAX_BYTES: u64 = 256 << 20;
const MAX_DEPTH: usize = 32;
/// What tools leave in a folder, and a skill does not need.
const IGNORED_NAMES: &[&str] = &[
    "__pycache__",
    ".git",
    ".hg",
    ".svn",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".DS_Store",
    ".venv",
    "node_modules",
];

pub struct Bundle {
    pub digest: String,
    pub files: Vec<(String, u64)>,
    pub contents: Vec<(String, Arc<[u8]>)>,
    pub tree: Arc<Tree>,
}

/// Why a skill's files can't be taken.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A file or folder of it can't be read.
    #[error("the skill's `{}` can't be read", .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It holds a pipe, a device or the like.
    #[error("the skill's `{path}` is neither a file nor a folder")]
    Odd {
        /// Its path in the skill.
        path: String,
    },
    /// A name in it is not UTF-8.
    #[error("the skill's `{path}` has a name that is not text")]
    Name {
        /// Its path in the skill, as far as it can be shown.
        path: String,
    },
    /// It has more files, folders or bytes than a skill may have.
    #[error("the skill has more than {what}")]
    TooLarge {
        /// The bound, in words.
        what: String,
    },
    /// A path in it has a form that a cell has no place for.
    #[error("the skill's `{path}` can't be offered to a cell")]
    Path {
        /// Its path in the skill.
        path: String,
    },
}

impl Bundle {
    pub fn from_folder(path: &Path) -> Result<Bundle, BundleError> {
        let failed = |source| BundleError::Read { path: path.to_owned(), source };
        let folder = Dir::open_ambient_dir(path, ambient_authority()).map_err(failed)?;
        let mut collector = FileCollector::default();
        collector.add_folder(&folder, &folder, "", path)?;
        collector.finish()
    }

    pub fn from_files(files: Vec<(String, Arc<[u8]>)>) -> Result<Bundle, BundleError> {
        let mut collector = FileCollector::default();
        for (path, bytes) in files {
            collector.count_bytes(bytes.len() as u64)?;
            collector.files.push((path, bytes));
        }
        collector.finish()
    }

    pub fn from_pack(pack: &Pack, id: &str) -> Result<Bundle, BundleError> {
        let mut collector = FileCollector::default();
        let prefix = format!("{id}/");
        for (path, len) in pack.files() {
            let Some(inner) = path.strip_prefix(&prefix) else { continue };
            collector.count_bytes(len)?;
            let bytes = pack.read(path).map_err(|source| BundleError::Read { path: pack.path().to_owned(), source })?;
            collector.files.push((inner.to_owned(), bytes.into()));
        }
        collector.finish()
    }
}

#[derive(Default)]
struct FileCollector {
    files: Vec<(String, Arc<[u8]>)>,
    bytes: u64,
    /// Folders entered so far. Links between folders inside the skill can multiply them exponentially.
    folders: usize,
}

impl FileCollector {
    /// `root` is the skill's own folder: no link leads out of that.
    fn add_folder(&mut self, root: &Dir, folder: &Dir, below: &str, path: &Path) -> Result<(), BundleError> {
        let failed = |source| BundleError::Read { path: path.to_owned(), source };
        if below.matches('/').count() > MAX_DEPTH {
            return Err(BundleError::TooLarge { what: format!("{MAX_DEPTH} folders inside each other") });
        }
        self.folders += 1;
        if self.folders > MAX_FILES {
            return Err(BundleError::TooLarge { what: format!("{MAX_FILES} folders") });
        }
        for entry in folder.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_str().ok_or_else(|| BundleError::Name { path: format!("{below}{}", name.display()) })?;
            if IGNORED_NAMES.contains(&name) || name.ends_with(".pyc") || name.starts_with(".#") {
                continue;
            }
            let place = format!("{below}{name}");
            // Through the skill's folder, not by path: a link that leads out of it is refused here.
            let here = |source| BundleError::Read { path: path.join(&place), source };
            let kind = match root.metadata(&place) {
                // A link that leads nowhere is nothing that a script could read.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                found => found.map_err(here)?,
            };
            if kind.is_dir() {
                self.add_folder(root, &root.open_dir(&place).map_err(here)?, &format!("{place}/"), path)?;
            } else if kind.is_file() {
                self.add_file(root, place, path)?;
            } else {
                return Err(BundleError::Odd { path: place });
            }
        }
        Ok(())
    }

    fn add_file(&mut self, root: &Dir, place: String, path: &Path) -> Result<(), BundleError> {
        let failed = |source| BundleError::Read { path: path.join(&place), source };
        let mut bytes = Vec::new();
        let room = MAX_BYTES - self.bytes;
        root.open(&place).and_then(|file| file.take(room + 1).read_to_end(&mut bytes)).map_err(failed)?;
        self.count_bytes(bytes.len() as u64)?;
        self.files.push((place, bytes.into()));
        Ok(())
    }

    fn count_bytes(&mut self, bytes: u64) -> Result<(), BundleError> {
        self.bytes += bytes;
        if self.bytes > MAX_BYTES {
            return Err(BundleError::TooLarge { what: format!("{} MiB", MAX_BYTES >> 20) });
        }
        if self.files.len() >= MAX_FILES {
            return Err(BundleError::TooLarge { what: format!("{MAX_FILES} files") });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Bundle, BundleError> {
        self.files.sort_by(|one, other| one.0.cmp(&other.0));
        let mut hasher = blake3::Hasher::new();
        let mut tree = Tree::new();
        let mut files = Vec::with_capacity(self.files.len());
        for (path, bytes) in &self.files {
            hasher.update(&(path.len() as u64).to_le_bytes()).update(path.as_bytes());
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
            files.push((path.clone(), bytes.len() as u64));
            let content = Content::Bytes(bytes.clone());
            tree.insert(path, content).map_err(|_| BundleError::Path { path: path.clone() })?;
        }
        Ok(Bundle { digest: hasher.finalize().to_hex().to_string(), files, contents: self.files, tree: Arc::new(tree) })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Each rung is a folder and a link to it: 30 of them are a thousand million folders.
    #[test]
    fn a_ladder_of_links_is_refused_soon() {
        let skill = tempfile::tempdir().unwrap();
        let mut rung = skill.path().to_owned();
        for _ in 0..30 {
            symlink("down", rung.join("link")).unwrap();
            rung.push("down");
            fs::create_dir(&rung).unwrap();
        }
        fs::write(skill.path().join("skill.py"), "").unwrap();
        let started = std::time::Instant::now();
        let refused = Bundle::from_folder(skill.path()).err().unwrap();
        assert!(matches!(refused, BundleError::TooLarge { .. }), "{refused}");
        assert!(started.elapsed().as_secs() < 20);
    }

    #[test]
    fn a_link_that_leads_out_is_refused() {
        let (skill, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(other.path(), skill.path().join("out")).unwrap();
        assert!(matches!(Bundle::from_folder(skill.path()), Err(BundleError::Read { .. })));
    }

    #[test]
    fn a_link_to_another_folder_of_the_skill_is_followed_and_one_that_leads_nowhere_is_left_out() {
        let skill = tempfile::tempdir().unwrap();
        for folder in ["scripts/deep", "shared"] {
            fs::create_dir_all(skill.path().join(folder)).unwrap();
        }
        fs::write(skill.path().join("shared/tool.py"), "tool").unwrap();
        symlink("../shared/tool.py", skill.path().join("scripts/tool.py")).unwrap();
        symlink("../../shared", skill.path().join("scripts/deep/all")).unwrap();
        symlink("nowhere", skill.path().join("scripts/gone.py")).unwrap();
        let paths: Vec<String> =
            Bundle::from_folder(skill.path()).unwrap().files.into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["scripts/deep/all/tool.py", "scripts/tool.py", "shared/tool.py"]);
        symlink("../../etc", skill.path().join("shared/up")).unwrap();
        assert!(Bundle::from_folder(skill.path()).is_err(), "out of the skill, and not only out of a folder of it");
    }
}
