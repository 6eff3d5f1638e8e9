//! A skill as the host sees it: where it was found, its files as bytes, and a digest of them.
//!
//! The files are read once, and cells are served from what was read: what was hashed is what runs, whatever happens to
//! the folder meanwhile. Nothing of a skill is executed or interpreted here, not even its manifest.

mod bundle;
mod find;
mod list;
mod script;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::bundle::Bundle;
pub use self::bundle::BundleError;
pub use self::find::{FindError, Roots};
pub use self::find::{Found, registry_ids};
pub use self::list::skills_below;
use crate::{LOCK_FILE, SitePackages, Wanted};
use skillcell_cache::Pack;
use skillcell_limits::RuntimeKind;
use skillcell_vfs::{Mount, Tree};

/// A skill, ready to be baked or called. Cheap to clone.
#[derive(Clone)]
pub struct Skill {
    id: Arc<str>,
    origin: Origin,
    bundle: Arc<Bundle>,
    /// The file of it that calls run, if that is not `skill.py`; its path in the folder.
    script: Option<Arc<str>>,
    /// Its files with those of a call, where the call brings some.
    laid_out: Option<Arc<Tree>>,
    laid_files: Arc<[(String, Arc<[u8]>)]>,
    /// What it requires, once that is resolved.
    site: Option<Arc<SitePackages>>,
    /// The runtime that its cells are of.
    runtime: RuntimeKind,
}

/// Where a skill's files came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A folder of this machine, as it was named or found.
    Folder(PathBuf),
    /// The registry that is pinned with this program.
    Registry,
    /// This program's own memory: a program that somebody handed over.
    Memory,
}

/// Why there is no skill to run.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// The name leads to none.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Its files can't be read, or are too many or too large.
    #[error(transparent)]
    Bundle(#[from] BundleError),
}

impl Skill {
    /// Finds a skill as Skillware does: a folder, else an id in `roots`, else in the pinned registry.
    pub fn find(name: &str, roots: &Roots, registry: &Pack) -> Result<Skill, SkillError> {
        match find::find(name, roots, registry)? {
            Found::Folder { id, path } => Skill::from_folder(&id, &path),
            Found::Registry { id } => Skill::from_registry(registry, &id),
        }
    }

    /// The same without the registry: none if the name may be one of its ids.
    pub fn find_in_folders(name: &str, roots: &Roots) -> Result<Option<Skill>, SkillError> {
        match find::find_folder(name, roots)? {
            Some(Found::Folder { id, path }) => Skill::from_folder(&id, &path).map(Some),
            Some(Found::Registry { .. }) | None => Ok(None),
        }
    }

    /// The skill of this id in the pinned registry, whatever else has that id.
    pub fn from_registry(registry: &Pack, id: &str) -> Result<Skill, SkillError> {
        let bundle = Arc::new(Bundle::from_pack(registry, id)?);
        Ok(Skill::new(id, Origin::Registry, bundle))
    }

    /// Reads the skill in a folder, to go by this id.
    pub fn from_folder(id: &str, path: &Path) -> Result<Skill, SkillError> {
        let bundle = Arc::new(Bundle::from_folder(path)?);
        Ok(Skill::new(id, Origin::Folder(path.to_owned()), bundle))
    }

    /// Reads a folder, whether or not it is a skill's: a script needs no more.
    pub fn from_any_folder(path: &Path) -> Result<Skill, SkillError> {
        Skill::from_folder(&find::id_of(path), path)
    }

    fn new(id: &str, origin: Origin, bundle: Arc<Bundle>) -> Skill {
        Skill {
            id: id.into(),
            origin,
            bundle,
            script: None,
            laid_out: None,
            laid_files: Arc::new([]),
            site: None,
            runtime: RuntimeKind::default(),
        }
    }

    /// `category/name`, or the folder's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How a command names it so that it is found again.
    pub fn as_given(&self) -> String {
        match &self.origin {
            Origin::Folder(path) => path.to_string_lossy().into_owned(),
            Origin::Registry | Origin::Memory => self.id().to_owned(),
        }
    }

    /// Where its files were read from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// A digest of every file's path and content.
    pub fn digest(&self) -> &str {
        &self.bundle.digest
    }

    /// The files, with their sizes.
    pub fn files(&self) -> &[(String, u64)] {
        &self.bundle.files
    }

    /// The files' paths and contents.
    pub fn contents(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.bundle.contents.iter().map(|(path, bytes)| (path.as_str(), &**bytes))
    }

    /// Writes the files, and those that a call lays beside them, below `folder`, which is made.
    pub fn write_to(&self, folder: &Path) -> std::io::Result<()> {
        for (path, bytes) in self.bundle.contents.iter().chain(&*self.laid_files) {
            let place = folder.join(path);
            std::fs::create_dir_all(place.parent().unwrap_or(folder))?;
            std::fs::write(place, bytes)?;
        }
        Ok(())
    }

    /// What it asks for, with the lock that it brings.
    pub fn wanted(&self, requirements: &[String]) -> Wanted {
        let lock = self.contents().find(|(path, _)| *path == LOCK_FILE).map(|(_, text)| text);
        // The lock of a folder with scripts is for all of them.
        let locked = lock.filter(|_| self.script.is_some()).and_then(crate::lock::locked_requirements);
        match locked.filter(|locked| requirements.iter().all(|one| locked.contains(one))) {
            Some(locked) => Wanted::new(&locked, lock),
            None => Wanted::new(requirements, lock),
        }
    }

    /// The same skill with its packages, on the runtime that they are for.
    pub fn with_site(&self, site: Option<Arc<SitePackages>>) -> Skill {
        let runtime = site.as_ref().map_or(self.runtime, |site| site.runtime);
        Skill { site, runtime, ..self.clone() }
    }

    /// The same skill on a runtime; packages for another one are not taken along.
    pub fn on(&self, runtime: RuntimeKind) -> Skill {
        let site = self.site.clone().filter(|site| site.runtime == runtime);
        Skill { site, runtime, ..self.clone() }
    }

    /// The runtime that its cells are of: the default unless it was put on another.
    pub fn runtime(&self) -> RuntimeKind {
        self.runtime
    }

    /// Its packages; none until they are resolved, or if it requires none.
    pub fn site(&self) -> Option<&SitePackages> {
        self.site.as_deref()
    }

    /// The same, to be kept beyond the skill.
    pub fn shared_site(&self) -> Option<Arc<SitePackages>> {
        self.site.clone()
    }

    /// What a cell sees of it: its folder, and its packages. To a script the folder is one that it may write in.
    pub fn mounts(&self) -> impl Iterator<Item = Mount> {
        let folder = match &self.script {
            None => Mount::tree(&self.guest_folder(), self.tree()),
            Some(_) => Mount::seeded(&self.guest_folder(), self.laid_out.clone().unwrap_or_else(|| self.tree())),
        };
        folder.into_iter().chain(self.site().and_then(SitePackages::mount))
    }

    /// Its folder as a cell sees it, read-only.
    pub fn tree(&self) -> Arc<Tree> {
        self.bundle.tree.clone()
    }

    /// Where a cell sees the skill's folder. It says nothing about where that is on the host.
    pub fn guest_folder(&self) -> String {
        if self.script.is_some() {
            return format!("/skills/{}", self.folder_name());
        }
        let (category, name) = self.package_parts();
        format!("/skills/{category}/{name}")
    }

    /// The Python package that the skill is imported as.
    pub fn package(&self) -> String {
        let (category, name) = self.package_parts();
        format!("skills.{category}.{name}")
    }

    fn package_parts(&self) -> (String, String) {
        let (category, name) = self.id.rsplit_once('/').unwrap_or(("local", &self.id));
        (to_identifier(category), to_identifier(name))
    }
}

/// A name that works as a folder and in a dotted Python name.
fn to_identifier(name: &str) -> String {
    let mut made: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(100).collect();
    if made.is_empty() || made.starts_with(|c: char| c.is_ascii_digit()) {
        made.insert(0, '_');
    }
    made
}
