//! The case files, as they are written. README.md explains each key; one that does not exist is an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::expect::Expect;

/// A hostile skill and its pairs.
pub struct Folder {
    pub family: String,
    pub path: PathBuf,
    pub stage: StageFile,
    pub pairs: Vec<Pair>,
}

impl Folder {
    pub fn name_of(&self, pair: &Pair) -> String {
        format!("{}/{}/{}", self.family, self.path.file_name().unwrap_or_default().display(), pair.name)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairsFile {
    #[serde(default)]
    stage: StageFile,
    /// What all halves have.
    #[serde(default)]
    both: Given,
    pair: Vec<Pair>,
}

/// What lies in the stage folder when a half begins.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields)]
pub struct StageFile {
    #[serde(default)]
    pub folders: Vec<String>,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    #[serde(default)]
    pub hard_links: BTreeMap<String, String>,
    #[serde(default)]
    pub pipes: Vec<String>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    pub name: String,
    /// What is tried, in a sentence.
    #[expect(dead_code, reason = "for who reads the file; that it is there is checked by reading it")]
    pub tries: String,
    #[serde(default)]
    pub params: toml::Table,
    /// What both halves have.
    #[serde(default)]
    pub both: Given,
    pub allowed: Half,
    pub denied: Half,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Half {
    /// Why no grant can allow what is tried, where the allowed half is the nearest thing that may be done.
    #[expect(dead_code, reason = "for who reads the file")]
    pub twin: Option<String>,
    #[serde(default)]
    pub params: toml::Table,
    #[serde(default)]
    pub with: Given,
    pub gives: Expect,
    /// What it gives in one tier, where that differs.
    #[serde(default)]
    pub gives_on: BTreeMap<String, Expect>,
    /// What props must have seen, by their name.
    #[serde(default)]
    pub saw: BTreeMap<String, toml::Value>,
    /// Files of the stage afterwards, where the half changes any.
    pub leaves: Option<BTreeMap<String, String>>,
}

/// What a call has besides its params.
#[derive(Deserialize, Clone, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    pub mount: Vec<String>,
    pub allow_http: Vec<String>,
    pub deny_http: Vec<String>,
    pub resolve: Vec<String>,
    pub secret: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub config: Option<toml::Table>,
    pub limits: GivenLimits,
    pub no_image: bool,
    /// By the program instead of the library, as a process of its own.
    pub by_cli: bool,
    /// More arguments for the program.
    pub args: Vec<String>,
    /// Variables of the host's process; for the program only.
    pub host_env: BTreeMap<String, String>,
    /// Files of the stage that the host's process has open meanwhile.
    pub host_files: Vec<String>,
    /// Calls that are made before this one, on the same host.
    pub before: Vec<Before>,
    /// What the host does meanwhile, by the name of a prop.
    pub during: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize, Clone, Default)]
#[serde(deny_unknown_fields, default)]
pub struct GivenLimits {
    pub deadline_ms: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub stdout_bytes: Option<u64>,
    pub stderr_bytes: Option<u64>,
    pub result_bytes: Option<u64>,
    pub open_files: Option<u32>,
    pub scratch_bytes: Option<u64>,
    pub scratch_files: Option<u32>,
    pub host_calls: Option<u64>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// Another skill, as `family/skill`; the same one if it is not named.
    pub skill: Option<String>,
    #[serde(default)]
    pub params: toml::Table,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// With what the half is granted of the web.
    #[serde(default)]
    pub granted: bool,
    /// How often; once if it is not said.
    pub times: Option<u32>,
    /// How each of them must end.
    pub outcome: String,
    #[serde(default)]
    pub limits: GivenLimits,
}

impl Given {
    /// What it has of the web, and nothing else.
    pub fn http(&self) -> Given {
        let Given { allow_http, deny_http, resolve, .. } = self.clone();
        Given { allow_http, deny_http, resolve, ..Given::default() }
    }

    /// Both together; single values of `more` win.
    pub fn and(&self, more: &Given) -> Given {
        let list = |one: &[String], other: &[String]| [one, other].concat();
        let map = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
            one.iter().chain(other).map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        Given {
            mount: list(&self.mount, &more.mount),
            allow_http: list(&self.allow_http, &more.allow_http),
            deny_http: list(&self.deny_http, &more.deny_http),
            resolve: list(&self.resolve, &more.resolve),
            secret: list(&self.secret, &more.secret),
            env: map(&self.env, &more.env),
            config: more.config.clone().or_else(|| self.config.clone()),
            limits: self.limits.and(&more.limits),
            no_image: self.no_image || more.no_image,
            by_cli: self.by_cli || more.by_cli,
            args: list(&self.args, &more.args),
            host_env: map(&self.host_env, &more.host_env),
            host_files: list(&self.host_files, &more.host_files),
            before: [&self.before[..], &more.before].concat(),
            during: self.during.clone().into_iter().chain(more.during.clone()).collect(),
        }
    }
}

impl GivenLimits {
    fn and(&self, more: &GivenLimits) -> GivenLimits {
        GivenLimits {
            deadline_ms: more.deadline_ms.or(self.deadline_ms),
            memory_bytes: more.memory_bytes.or(self.memory_bytes),
            stdout_bytes: more.stdout_bytes.or(self.stdout_bytes),
            stderr_bytes: more.stderr_bytes.or(self.stderr_bytes),
            result_bytes: more.result_bytes.or(self.result_bytes),
            open_files: more.open_files.or(self.open_files),
            scratch_bytes: more.scratch_bytes.or(self.scratch_bytes),
            scratch_files: more.scratch_files.or(self.scratch_files),
            host_calls: more.host_calls.or(self.host_calls),
        }
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escape")
}

/// The folders beside this file.
pub fn families() -> Vec<String> {
    below(&root()).into_iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect()
}

pub fn folders(family: &str) -> Vec<Folder> {
    below(&root().join(family)).into_iter().map(|path| read(family, path)).collect()
}

fn read(family: &str, path: PathBuf) -> Folder {
    let place = path.join("pairs.toml");
    let text = std::fs::read_to_string(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    let mut file: PairsFile = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    file.pair.iter_mut().for_each(|pair| pair.both = file.both.and(&pair.both));
    Folder { family: family.to_owned(), path, stage: file.stage, pairs: file.pair }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    paths.sort();
    paths
}
