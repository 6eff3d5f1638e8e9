//! The permissions that a skill would have to ask for, as a block for its manifest with the place of each in a comment.
//! What only a run can tell, such as a folder that the params name, is said rather than guessed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::effects::Effect;
use super::facts::{Facts, Import, Spot};
use super::graph::{Graph, When};
use super::needs::{Need, Raises, What};
use super::network::{ANY, Rules};
use skillcell_policy::{EnvGrant, GuestPath, Permissions, refused_import};
use skillcell_quote::one_line;

const MOST: usize = 60;
/// What every cell has.
const GIVEN: [&str; 3] = ["SKILLWARE_SCRATCH_DIR", "USER", "SKILLWARE_CONFIG_DIR"];
/// Where a folder that the params lead to is put.
const DATA: &str = "/data";

/// What to paste into a manifest.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Asking {
    /// As the policy reads it. Null if there is nothing to ask for.
    pub value: Value,
    /// The same as YAML, each entry with the places that it comes from. Empty if there is nothing.
    pub yaml: String,
    /// What the block can't say.
    pub remarks: Vec<String>,
    /// Whether something has to be granted for all of the skill to work.
    #[serde(skip)]
    pub(super) is_needed: bool,
}

#[derive(Default)]
struct Draft {
    network: Vec<(Value, String)>,
    filesystem: BTreeMap<String, (bool, BTreeSet<String>, &'static str)>,
    env: BTreeMap<String, BTreeSet<String>>,
    secrets: BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)>,
    remarks: Vec<String>,
    /// A remark is about something that has to be granted with a flag: a folder to mount, an import to allow.
    flags: bool,
    /// It writes below the home folder, so what it reads there may be its own.
    keeps_at_home: bool,
}

pub fn asking(facts: &Facts, graph: &Graph<'_>, needs: &[Need], rules: &Rules) -> Asking {
    let mut draft = Draft::default();
    draft.network(rules);
    draft.files(facts, graph, needs);
    draft.variables(facts, graph, rules);
    draft.imports(facts, graph);
    draft.finish()
}

impl Draft {
    fn network(&mut self, rules: &Rules) {
        for (url, asked) in rules.iter().take(MOST) {
            let methods: Vec<&str> = asked.methods.iter().map(String::as_str).collect();
            let rule = format!("{} {url}", methods.join(","));
            let why = asked.why.map(|why| format!(": {why}")).unwrap_or_default();
            self.network.push((json!(rule), format!("{}{why}", few(&asked.places))));
        }
    }

    fn files(&mut self, facts: &Facts, graph: &Graph<'_>, needs: &[Need]) {
        // What is written comes first: what is read may be that.
        let writes = |need: &&Need| need.what == What::Effect(Effect::WriteFile);
        for need in needs.iter().filter(writes).chain(needs.iter().filter(|need| !writes(need))) {
            let What::Effect(effect @ (Effect::ReadFile | Effect::WriteFile)) = need.what else { continue };
            let node = (need.file.clone(), need.spot.function.clone());
            if !graph.reached.contains_key(&node) {
                continue;
            }
            let Some(call) = facts.files.get(&need.file).and_then(|file| {
                file.calls.iter().find(|call| call.spot.line == need.spot.line && call.name == need.name)
            }) else {
                continue;
            };
            for place in call.place.iter().chain(&call.second_place) {
                self.path(place, effect == Effect::WriteFile, need);
            }
        }
    }

    fn path(&mut self, place: &str, writes: bool, need: &Need) {
        let (folder, why) = match place {
            "param" => {
                (DATA.to_owned(), "a path that the skill is given: the operator mounts a folder, see --map-paths")
            }
            "home" if writes => {
                self.keeps_at_home = true;
                return self.remark("what it writes below the home folder is gone after each call", need);
            }
            "home" if self.keeps_at_home => return,
            "home" => {
                return self.remark(
                    "the home folder is empty in a cell: a file there has to be mounted below /home/skill",
                    need,
                );
            }
            "env" => {
                return self
                    .remark("an environment variable says which file it uses: a folder has to be mounted there", need);
            }
            _ => match place.strip_prefix("text:").and_then(folder_of) {
                Some(folder) => (folder, "a path that stands in the code"),
                None => return,
            },
        };
        if GuestPath::parse(&folder).is_err() {
            return self.remark(&format!("no folder can be mounted at {folder:?}"), need);
        }
        let entry = self.filesystem.entry(folder).or_insert((false, BTreeSet::new(), why));
        entry.0 |= writes;
        entry.1.insert(need.place());
    }

    fn remark(&mut self, text: &str, need: &Need) {
        self.flags |= text.contains("mounted");
        self.say(format!("{}: {text}", need.place()));
    }

    fn say(&mut self, remark: String) {
        if self.remarks.len() < MOST && !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// What `skillcell run` refuses a skill for, though it may cope: not a permission, but a flag.
    fn imports(&mut self, facts: &Facts, graph: &Graph<'_>) {
        for (path, file) in &facts.files {
            let reach = graph.reached.get(&(path.clone(), String::new()));
            if reach.is_none_or(|reach| reach.when != When::Import || reach.is_soft(Raises::Import)) {
                continue;
            }
            let sure = |import: &&Import| {
                let Spot { function, conditions, .. } = &import.spot;
                let plain = import.kind == "static" && import.to.is_none() && function.is_empty();
                plain && conditions.is_empty() && !graph.survives(path, &import.spot, Raises::Import)
            };
            for import in file.imports.iter().filter(sure) {
                if let Some(module) = refused_import(&import.module) {
                    self.flags = true;
                    let line = import.spot.line;
                    self.say(format!(
                        "{path}:{line}: `skillcell run` refuses the import of `{module}` unless it is approved, or \
                         `--allow-import {module}` is given"
                    ));
                }
            }
        }
    }

    fn variables(&mut self, facts: &Facts, graph: &Graph<'_>, rules: &Rules) {
        let mut named: BTreeMap<&str, (bool, BTreeSet<String>)> = BTreeMap::new();
        let mut dynamic = BTreeSet::new();
        for (path, file) in &facts.files {
            for read in &file.env {
                let place = format!("{path}:{}", read.spot.line);
                if !graph.reached.contains_key(&(path.clone(), read.spot.function.clone())) {
                } else if read.name.is_empty() {
                    dynamic.insert(place);
                } else {
                    let entry = named.entry(&read.name).or_default();
                    entry.0 |= read.how == "credential";
                    entry.1.insert(place);
                }
            }
        }
        let manifest = facts.manifest();
        for name in &manifest.env_vars {
            named.entry(name).or_default().1.insert("manifest.yaml, env_vars".to_owned());
        }
        if !dynamic.is_empty() {
            self.say(format!("{}: which variable it reads is only known at run time", few(&dynamic)));
        }
        for (name, (credential, places)) in named.into_iter().take(MOST) {
            self.variable(name, credential, places, rules);
        }
    }

    fn variable(&mut self, name: &str, credential: bool, places: BTreeSet<String>, rules: &Rules) {
        if EnvGrant::parse(name).is_err() || GIVEN.contains(&name) {
            return;
        }
        let is_credential = is_secret(name) || credential && name.contains("PASS");
        if !is_credential {
            self.env.insert(name.to_owned(), places);
            return;
        }
        let hosts = hosts_for(name, rules);
        if hosts.is_empty() {
            let any = if rules.contains_key(ANY) { " (a secret is for named hosts)" } else { "" };
            self.say(format!("{}: add `{name}` under secrets, with the hosts that it is for{any}", few(&places)));
        } else {
            self.secrets.insert(name.to_owned(), (hosts, places));
        }
    }

    fn finish(mut self) -> Asking {
        let mut value = serde_json::Map::new();
        let mut yaml = String::new();
        let mut section = |key: &str, entries: Vec<(Value, String)>| {
            if entries.is_empty() {
                return;
            }
            yaml.push_str(&format!("  {key}:\n"));
            for (entry, places) in &entries {
                yaml.push_str(&format!("    # {}\n    - {entry}\n", plain(places)));
            }
            value.insert(key.to_owned(), entries.into_iter().map(|(entry, _)| entry).collect());
        };
        section("network", std::mem::take(&mut self.network));
        let folders =
            std::mem::take(&mut self.filesystem).into_iter().take(MOST).map(|(path, (writes, places, why))| {
                let mode = if writes { "rw" } else { "ro" };
                (json!({"path": path, "mode": mode}), format!("{}: {why}", few(&places)))
            });
        section("filesystem", folders.collect());
        let env = std::mem::take(&mut self.env).into_iter().map(|(name, places)| (json!(name), few(&places)));
        section("env", env.collect());
        let secrets = std::mem::take(&mut self.secrets)
            .into_iter()
            .map(|(name, (hosts, places))| (json!({"name": name, "hosts": hosts}), few(&places)));
        section("secrets", secrets.collect());
        let value = Value::Object(value);
        // What the policy would refuse is no help.
        let fine = Permissions::parse(&value).is_ok_and(|asked| !asked.is_empty());
        if !fine {
            return Asking { value: Value::Null, yaml: String::new(), remarks: self.remarks, is_needed: self.flags };
        }
        Asking { value, yaml: format!("permissions:\n{yaml}"), remarks: self.remarks, is_needed: true }
    }
}

/// The folder of a path that stands in the code; none for one that is no folder's.
fn folder_of(text: &str) -> Option<String> {
    if text.contains("://") || text.contains('\0') || text.is_empty() {
        return None;
    }
    let text = text.strip_prefix("./").unwrap_or(text);
    let (folder, _) = text.rsplit_once('/')?;
    let folder = if folder.is_empty() { text } else { folder };
    Some(if folder.starts_with('/') { folder.to_owned() } else { format!("/{folder}") })
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_place = ["_PATH", "_DIR", "_FILE", "_URL", "_HOST", "_NAME", "_LIMIT"].iter().any(|end| name.ends_with(end));
    let words = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"];
    !is_place && words.iter().any(|word| name.contains(word))
}

/// The hosts that a secret is for: those that its name speaks of, else all that are named.
fn hosts_for(name: &str, rules: &Rules) -> BTreeSet<String> {
    let hosts: BTreeSet<String> = rules
        .keys()
        .filter(|url| *url != ANY)
        .filter_map(|url| url.split_once("//").and_then(|(_, rest)| rest.split('/').next()).map(str::to_owned))
        .collect();
    let own = name.split('_').next().unwrap_or(name).to_ascii_lowercase();
    let spoken: BTreeSet<String> = hosts
        .iter()
        .filter(|host| host.contains(&own) || (host.contains("googleapis") && (own == "google" || own == "gemini")))
        .cloned()
        .collect();
    let chosen = if spoken.is_empty() { hosts } else { spoken };
    chosen.into_iter().take(16).collect()
}

fn few(places: &BTreeSet<String>) -> String {
    let listed: Vec<&str> = places.iter().take(4).map(String::as_str).collect();
    let more = if places.len() > 4 { format!(" and {} more", places.len() - 4) } else { String::new() };
    format!("{}{more}", listed.join(", "))
}

/// A comment is one line.
fn plain(text: &str) -> String {
    one_line(&text.replace(['\n', '\t'], " "))
}
