//! The stage of one half: a fresh folder of the host with what the case file puts there, a marker that nobody else has, and
//! the words that case files may use for them.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use skillcell::Tier;

use sha2::{Digest, Sha256};

use crate::case::StageFile;
use crate::tier::TIER;

pub struct Stage {
    pub folder: tempfile::TempDir,
    pub words: Words,
}

impl Stage {
    pub fn set(file: &StageFile, tier_words: &[(&str, String)]) -> Stage {
        let folder = tempfile::tempdir().expect("a folder for the stage");
        let mut words = Words::default();
        words.put("canary", &canary());
        words.put("marks", &marks(words.get("canary")));
        words.put("stage", &folder.path().display().to_string());
        words.put("cache", &cache().display().to_string());
        words.put("escape", &crate::case::root().display().to_string());
        tier_words.iter().for_each(|(name, value)| words.put(name, value));
        let stage = Stage { folder, words };
        stage.furnish(file);
        if *TIER == Tier::Container && rustix::process::geteuid().is_root() {
            // The user that a container of root's runs as owns it, or every half would fail for want of rights.
            give_away(stage.folder.path());
        }
        stage
    }

    fn furnish(&self, file: &StageFile) {
        let place = |path: &str| {
            let path = self.path(path);
            std::fs::create_dir_all(path.parent().expect("below the stage")).expect("made");
            path
        };
        for folder in &file.folders {
            std::fs::create_dir_all(self.path(folder)).expect("made");
        }
        for (path, text) in &file.files {
            std::fs::write(place(path), self.words.fill(text)).expect("written");
        }
        for (path, target) in &file.links {
            symlink(self.words.fill(target), place(path)).expect("linked");
        }
        for (path, target) in &file.hard_links {
            std::fs::hard_link(self.path(target), place(path)).expect("linked");
        }
        for path in &file.pipes {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, place(path), rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        }
    }

    pub fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }

    /// Everything in the stage: what it is, its mode, when it was changed, and its bytes. Access times are the reader's.
    pub fn inventory(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        list(self.folder.path(), "", &mut found);
        found
    }
}

fn give_away(path: &Path) {
    const NOBODY: u32 = 65534;
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
    if path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
        for entry in std::fs::read_dir(path).expect("a folder").flatten() {
            give_away(&entry.path());
        }
    }
}

fn list(folder: &Path, below: &str, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).expect("the stage can be listed").flatten() {
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        let Ok(about) = std::fs::symlink_metadata(entry.path()) else { continue };
        let (mode, changed) = (about.permissions().mode(), (about.mtime(), about.mtime_nsec()));
        let content = match () {
            () if about.is_dir() => "a folder".to_owned(),
            () if about.is_symlink() => format!("a link to {:?}", std::fs::read_link(entry.path()).unwrap_or_default()),
            () if about.is_file() => String::from_utf8_lossy(&std::fs::read(entry.path()).expect("read")).into_owned(),
            () => "something else".to_owned(),
        };
        found.insert(name.clone(), format!("{mode:o} {} {changed:?} {content}", about.nlink()));
        if about.is_dir() {
            list(&entry.path(), &format!("{name}/"), found);
        }
    }
}

/// A marker that occurs nowhere else.
/// Hashes of all pieces of the marker, eight characters each: by these a skill knows one, without having it.
fn marks(canary: &str) -> String {
    let mark = |piece: &[u8]| {
        let hash = Sha256::digest([&b"salt"[..], piece].concat());
        hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    canary.as_bytes().windows(8).map(mark).collect::<Vec<_>>().join(",")
}

fn canary() -> String {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).expect("random bytes");
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("canary-{hex}-yranac")
}

/// The cache folder that the calls use.
fn cache() -> std::path::PathBuf {
    let home = || std::path::PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    std::env::var_os("SKILLCELL_CACHE_DIR").map_or_else(|| home().join(".cache/skillcell"), Into::into)
}

/// `{name}` in case files. A name that is not known stays as it is.
#[derive(Default, Clone)]
pub struct Words(BTreeMap<String, String>);

impl Words {
    pub fn put(&mut self, name: &str, value: &str) {
        self.0.insert(format!("{{{name}}}"), value.to_owned());
    }

    pub fn get(&self, name: &str) -> &str {
        self.0.get(&format!("{{{name}}}")).map_or("", String::as_str)
    }

    pub fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// In a regular expression, where a word stands for its own letters.
    pub fn fill_pattern(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, &regex::escape(value)))
    }

    pub fn json(&self, value: &toml::Value) -> serde_json::Value {
        self.fill_json(serde_json::to_value(value).expect("no dates in case files"))
    }

    fn fill_json(&self, value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) => self.fill(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.fill_json(item)).collect(),
            Value::Object(entries) => {
                entries.into_iter().map(|(name, value)| (self.fill(&name), self.fill_json(value))).collect()
            }
            other => other,
        }
    }
}
