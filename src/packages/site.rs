//! The files of a skill's packages: one pack of wheels and stand-ins, made once for each set, that cells see as a folder on
//! `sys.path`; and what was resolved, kept so that a second start asks nobody.
//!
//! It comes last on the path, so nothing in it takes the place of the standard library, the runtime or the framework.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::installed::Installed;
use super::resolve::{Resolver, Wheels};
use super::{Error, LOCK_FILE, Package, Packages, Standing, constraints, lock, standins};
use crate::cache::{Bucket, Cache, Pack};
use crate::progress::Progress;
use crate::provision::{self, Fetch, Wheel};
use crate::runtime;
use crate::runtime::files::pack_tree;
use crate::skill::Skill;
use crate::vfs::Mount;

/// Where cells see it.
pub const SITE_FOLDER: &str = "/usr/local/lib/requirements";
/// The version of the rules of resolving and packing: another one makes everything anew.
const RULES: u32 = 3;
/// The most files and bytes in a pack, and the most bytes of one file.
const MAX_FILES: usize = 50_000;
const MAX_BYTES: u64 = 512 << 20;
const MAX_FILE_BYTES: u64 = 64 << 20;
/// What is kept of a `.dist-info` folder.
const DIST_INFO: [&str; 5] = ["METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"];
/// The longest requirement that is kept; longer ones are refused.
const MAX_TEXT: usize = 1001;
/// The most that is said about packages that are missing.
const MAX_NOTES: usize = 8;

/// A skill's packages, ready to be seen by its cells.
#[derive(Clone)]
pub struct Site {
    pub packages: Packages,
    /// The pack's name in the cache, if there is anything in it.
    pub pack: Option<String>,
    mount: Option<Mount>,
}

impl Site {
    pub fn mount(&self) -> Option<Mount> {
        self.mount.clone()
    }
}

/// Makes sites, and finds them again.
pub struct Sites<'a> {
    pub cache: &'a Cache,
    pub fetch: &'a Fetch,
    pub progress: &'a dyn Progress,
}

impl Sites<'_> {
    /// The site of a skill with this manifest; `None` if it requires nothing.
    pub fn of(&self, skill: &Skill, manifest: &Value) -> Result<Option<Site>, Error> {
        let requirements = requirements(manifest);
        if requirements.is_empty() {
            return Ok(None);
        }
        if let Some((_, text)) = skill.contents().find(|(path, _)| *path == LOCK_FILE) {
            let packages = lock::read(text, &requirements, &Installed::look(self.cache, self.progress)?)?;
            return self.site(packages, Wheels::new()).map(Some);
        }
        let _guard = self.cache.lock(&format!("{}-lock", memo(&requirements)), "resolving packages", self.progress)?;
        if let Some(packages) = self.recall(&requirements)?
            && let Ok(site) = self.site(packages, Wheels::new())
        {
            return Ok(Some(site));
        }
        self.resolve(&requirements).map(Some)
    }

    /// What a skill with this manifest requires, resolved again.
    pub fn anew(&self, manifest: &Value) -> Result<Packages, Error> {
        let requirements = requirements(manifest);
        if requirements.is_empty() {
            return Ok(Packages::default());
        }
        Ok(self.resolve(&requirements)?.packages)
    }

    /// Resolves, and remembers it.
    fn resolve(&self, requirements: &[String]) -> Result<Site, Error> {
        let resolver = Resolver { cache: self.cache, fetch: self.fetch, progress: self.progress };
        let (mut packages, wheels, _scratch) = resolver.resolve(requirements)?;
        packages.sources = sources(self.fetch);
        self.tell(&packages);
        // What nobody could be asked about is asked again another time.
        if packages.is_complete() {
            self.remember(&packages)?;
        }
        self.site(packages, wheels)
    }

    /// The site that an image was baked with; `None` if its files are gone, or it is worth asking again.
    pub fn again(&self, packages: Packages, pack: Option<String>) -> Result<Option<Site>, Error> {
        // Baked where nobody could be asked, or asked others.
        if packages.was_offline() && !self.fetch.offline || !packages.holds_with(&sources(self.fetch)) {
            return Ok(None);
        }
        let Some(name) = pack else { return Ok(Some(Site { packages, pack, mount: None })) };
        let Some(artefact) = self.cache.open(Bucket::Pack, &name, self.progress)? else { return Ok(None) };
        let mount = Mount::tree(SITE_FOLDER, pack_tree(Pack::open(artefact)?).into());
        Ok(Some(Site { packages, pack: Some(name), mount }))
    }

    /// Puts the files together. Wheels that are not at hand are fetched by their hashes.
    fn site(&self, packages: Packages, mut wheels: Wheels) -> Result<Site, Error> {
        let ours = |package: &&Package| matches!(package.standing, Standing::Wheel { .. } | Standing::StandIn { .. });
        let members: Vec<&Package> = packages.packages.iter().filter(ours).collect();
        if members.is_empty() {
            return Ok(Site { packages, pack: None, mount: None });
        }
        let name = pack_name(&members);
        let purpose = "unpacking packages";
        let artefact = self.cache.make(Bucket::Pack, &name, purpose, self.progress, |writer| {
            let scratch = self.cache.scratch()?;
            let mut pins = Vec::new();
            for package in &members {
                if matches!(package.standing, Standing::Wheel { .. }) && !wheels.contains_key(&package.name) {
                    pins.push(lock::pin(&package.name, &package.standing)?);
                }
                if matches!(package.standing, Standing::StandIn { .. }) && !wheels.contains_key(&package.name) {
                    pins.extend(standins::of(&package.name).and_then(|standin| standin.python_of.clone()));
                }
            }
            let fetched =
                provision::fetch(&pins.iter().collect::<Vec<_>>(), self.fetch, scratch.path(), self.progress)?;
            for (pin, fetched) in pins.iter().zip(fetched) {
                wheels.insert(pin.name.clone(), Wheel::open(fetched)?);
            }
            self.progress.step(purpose);
            let files = gather(&members, &mut wheels)?;
            let count = Pack::build::<Error>(writer, files)?;
            let listed: Vec<&String> = members.iter().map(|package| &package.name).collect();
            Ok::<Value, Error>(json!({"kind": "requirements", "files": count, "packages": listed}))
        })?;
        let mount = Mount::tree(SITE_FOLDER, pack_tree(Pack::open(artefact)?).into());
        Ok(Site { packages, pack: Some(name), mount })
    }

    fn recall(&self, requirements: &[String]) -> Result<Option<Packages>, Error> {
        let meta = self.cache.meta(Bucket::Pack, &memo(requirements))?;
        let known = meta.and_then(|meta| serde_json::from_value::<Packages>(meta["packages"].clone()).ok());
        let sources = sources(self.fetch);
        Ok(known.filter(|packages| packages.requirements == requirements && packages.holds_with(&sources)))
    }

    fn remember(&self, packages: &Packages) -> Result<(), Error> {
        let name = memo(&packages.requirements);
        self.cache.replace(Bucket::Pack, &name, "remembering packages", self.progress, |writer| {
            Pack::build::<Error>(writer, [])?;
            Ok::<Value, Error>(json!({"kind": "resolved", "packages": packages}))
        })?;
        Ok(())
    }

    /// Says what is missing, once: when it is found out.
    fn tell(&self, packages: &Packages) {
        let refused =
            packages.refused.iter().map(|(text, why)| format!("the requirement `{text}` is not taken: {why}"));
        let missing = packages.missing().map(Package::describe);
        let other = packages.packages.iter().filter(|p| matches!(p.standing, Standing::OtherVersion { .. }));
        for note in refused.chain(missing).chain(other.map(Package::describe)).take(MAX_NOTES) {
            self.progress.note(&note);
        }
    }
}

/// What a manifest requires, as text. What is no text becomes something that is refused, with the reason.
fn requirements(manifest: &Value) -> Vec<String> {
    let text = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(MAX_TEXT).collect::<String>()
    };
    match &manifest["requirements"] {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().map(text).collect(),
        other => vec![text(other)],
    }
}

/// A digest of the wheels that are given: their places, names, sizes and times.
fn sources(fetch: &Fetch) -> String {
    if fetch.wheels.is_empty() {
        return String::new();
    }
    let mut files: Vec<String> = Vec::new();
    for given in &fetch.wheels {
        let inside = std::fs::read_dir(given).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in inside.chain([given.clone()]) {
            let about = path.metadata().map(|meta| (meta.len(), meta.modified().ok())).ok();
            files.push(format!("{} {about:?}\n", path.display()));
        }
    }
    files.sort();
    blake3::hash(files.concat().as_bytes()).to_hex()[..16].to_owned()
}

/// Everything besides the requirements that a resolution depends on.
static BASIS: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{RULES} {}\n{}\n{}\n", runtime::id(), constraints::TEXT, standins::digest()).as_bytes());
    for pin in provision::pins().packages() {
        hasher.update(format!("{} {}\n", pin.name, pin.version).as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
});

/// Part of every image's key: other rules, stand-ins or constraints make other images.
pub fn basis() -> &'static str {
    &BASIS
}

fn memo(requirements: &[String]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(basis().as_bytes());
    for text in requirements {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    format!("resolved-{}", &hasher.finalize().to_hex()[..32])
}

fn pack_name(members: &[&Package]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{RULES}\n").as_bytes());
    for package in members {
        let content = match &package.standing {
            Standing::Wheel { sha256, .. } => sha256.clone(),
            _ => standins::digest().to_string(),
        };
        hasher.update(format!("{} {content}\n", package.name).as_bytes());
    }
    format!("requirements-{}", &hasher.finalize().to_hex()[..32])
}

/// The files of all members. Where two have the same one, the first is taken, as it would be by pip in another order.
fn gather(members: &[&Package], wheels: &mut Wheels) -> Result<Vec<Result<(String, Vec<u8>), Error>>, Error> {
    let mut taken = Taken::default();
    let mut files = Vec::new();
    for package in members {
        let standin = matches!(package.standing, Standing::StandIn { .. }).then(|| standins::of(&package.name));
        if let Some(standin) = standin.flatten() {
            for (path, bytes) in standin.site_files(&package.name) {
                if taken.takes(&path, bytes.len() as u64)? {
                    files.push(Ok((path, bytes)));
                }
            }
        }
        let Some(wheel) = wheels.get_mut(&package.name) else { continue };
        for member in wheel.members().to_vec() {
            let Some(path) = place(&member.path) else { continue };
            if taken.takes(&path, member.bytes)? {
                files.push(Ok((path, wheel.read(&member)?)));
            }
        }
    }
    Ok(files)
}

#[derive(Default)]
struct Taken {
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
    bytes: u64,
}

impl Taken {
    /// Whether a file is new, and no folder where another one is a file or the other way round.
    fn takes(&mut self, path: &str, bytes: u64) -> Result<bool, Error> {
        let above: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
        let clash = self.files.contains(path) || self.folders.contains(path);
        if clash || above.iter().any(|folder| self.files.contains(*folder)) {
            return Ok(false);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if bytes > MAX_FILE_BYTES {
            return Err(Error::TooMuch(format!("`{path}` is larger than {} MiB", MAX_FILE_BYTES >> 20)));
        }
        if self.bytes > MAX_BYTES || self.files.len() >= MAX_FILES {
            let what = format!("they have more than {} MiB or {MAX_FILES} files", MAX_BYTES >> 20);
            return Err(Error::TooMuch(what));
        }
        self.folders.extend(above.into_iter().map(str::to_owned));
        self.files.insert(path.to_owned());
        Ok(true)
    }
}

/// Where a file of a wheel goes; `None` for what a cell can't use.
fn place(path: &str) -> Option<String> {
    let (top, rest) = path.split_once('/').unwrap_or((path, ""));
    if top.ends_with(".dist-info") {
        return DIST_INFO.contains(&rest).then(|| path.to_owned());
    }
    if top.ends_with(".data") {
        let (kind, inner) = rest.split_once('/')?;
        return matches!(kind, "purelib" | "platlib").then(|| place(inner)).flatten();
    }
    let useless = [".so", ".pyd", ".dll", ".dylib", ".pyc"].iter().any(|ending| path.ends_with(ending));
    let startup = rest.is_empty() && path.ends_with(".pth");
    (!useless && !startup).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_what_can_be_imported_and_the_metadata_of_it() {
        for (path, placed) in [
            ("pptx/__init__.py", Some("pptx/__init__.py")),
            ("pptx/templates/default.pptx", Some("pptx/templates/default.pptx")),
            ("x-1.dist-info/METADATA", Some("x-1.dist-info/METADATA")),
            ("x-1.data/purelib/y.py", Some("y.py")),
            ("x-1.dist-info/licenses/LICENSE", None),
            ("x-1.data/scripts/run", None),
            ("evil.pth", None),
            ("a/b.so", None),
        ] {
            assert_eq!(place(path).as_deref(), placed, "{path}");
        }
    }

    #[test]
    fn of_two_files_in_one_place_the_first_is_taken() {
        let mut taken = Taken::default();
        assert!(taken.takes("a/b.py", 1).unwrap());
        for clash in ["a/b.py", "a", "a/b.py/c"] {
            assert!(!taken.takes(clash, 1).unwrap(), "{clash}");
        }
        assert!(taken.takes("a/c.py", MAX_FILE_BYTES + 1).is_err());
    }

    #[test]
    fn a_manifest_is_read_whatever_it_has() {
        assert!(requirements(&json!({})).is_empty());
        assert_eq!(requirements(&json!({"requirements": ["a", 1, "b\u{1b}[31m"]})), ["a", "1", "b\u{fffd}[31m"]);
        assert_eq!(requirements(&json!({"requirements": "a"})), ["a"]);
        assert!(requirements(&json!({"requirements": ["x".repeat(10_000)]}))[0].len() < 2000);
    }
}
