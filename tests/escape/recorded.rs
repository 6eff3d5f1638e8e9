//! What pairs give in a tier that is no cell, or on the second runtime, where that differs from what a cell gives:
//! `../escape-tiers/<tier>.json`, `subprocess-landlock.json` where `SKILLCELL_SANDBOX` is `landlock`, and `pyodide.json`; recorded by a run with `ESCAPE_RECORD=1` and read by
//! people. A run fails where it differs from its record.
//!
//! The file has every pair that was run: `"same"` as in a cell, or what differs, half by half. What a half must not do in
//! any tier (let the marker out, change the stage, spoil the next call, be seen by a server) is in there too if it was
//! done, with the word `BROKEN`.
//!
//! Those are of root. `ordinary-user.json` has, for each of them, what an ordinary user's run gave otherwise.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::tier;

/// How a pair went.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(untagged)]
pub enum Record {
    Same(String),
    Differs(Vec<String>),
}

pub type Records = BTreeMap<String, Record>;

/// Where an ordinary user's runs are, of every tier.
const ORDINARY: &str = "ordinary-user";

static BEFORE: LazyLock<Records> = LazyLock::new(|| {
    let mut records: Records = read(&name());
    if !is_root() {
        records.extend(ordinary().remove(&name()).unwrap_or_default());
    }
    records
});
static NOW: Mutex<Records> = Mutex::new(Records::new());

/// The tier, or the runtime; and the tier's sandbox, if that is the lesser.
fn name() -> String {
    if tier::has_no_paths_of_its_own() { format!("{}-landlock", tier::place()) } else { tier::place().to_owned() }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A record; nothing if there is none.
pub fn read<T: DeserializeOwned + Default>(name: &str) -> T {
    let text = std::fs::read_to_string(path(name));
    text.map_or_else(|_| T::default(), |text| serde_json::from_str(&text).expect("a record of the escape suite"))
}

/// What is otherwise for an ordinary user, by the record's name.
pub fn ordinary() -> BTreeMap<String, Records> {
    read(ORDINARY)
}

fn path(tier: &str) -> PathBuf {
    crate::case::root().join("../escape-tiers").join(format!("{tier}.json"))
}

/// What is not as recorded.
pub fn check(pair: &str, found: Vec<String>) -> Vec<String> {
    let now = if found.is_empty() { Record::Same("same".into()) } else { Record::Differs(found) };
    NOW.lock().expect("no test panicked with it").insert(pair.to_owned(), now.clone());
    if std::env::var_os("ESCAPE_RECORD").is_some() || BEFORE.get(pair) == Some(&now) {
        return Vec::new();
    }
    vec![format!("in `{}` it was {:?}, now it is {now:?}", tier::place(), BEFORE.get(pair))]
}

/// Whether a pair was recorded, and for another reason than that time was over: that depends on how busy a machine is.
pub fn is_steady(pair: &str) -> bool {
    match BEFORE.get(pair) {
        None => false,
        Some(Record::Same(_)) => true,
        Some(Record::Differs(lines)) => !lines.iter().any(|line| line.contains("deadline")),
    }
}

/// Writes what was found, where recording was asked for.
pub fn save() {
    let Some(to) = std::env::var_os("ESCAPE_RECORD") else { return };
    // Families run at the same time, and some may not run at all.
    let now = NOW.lock().expect("no test panicked with it");
    if to != "1" {
        // Into a file of its own, for who runs several at once.
        return std::fs::write(to, serde_json::to_string_pretty(&*now).expect("JSON")).expect("written");
    }
    let mut of_root: Records = read(&name());
    if is_root() {
        of_root.extend(now.clone());
        return write(&name(), &of_root);
    }
    let mut all = ordinary();
    let of_user = all.entry(name()).or_default();
    for (pair, record) in &*now {
        match of_root.get(pair) == Some(record) {
            true => of_user.remove(pair),
            false => of_user.insert(pair.clone(), record.clone()),
        };
    }
    write(ORDINARY, &all);
}

fn write(name: &str, records: &impl Serialize) {
    let text = serde_json::to_string_pretty(records).expect("JSON");
    std::fs::create_dir_all(path(name).parent().expect("in a folder")).expect("made");
    std::fs::write(path(name), text + "\n").expect("written");
}

/// What a call gave, without what changes from run to run.
pub struct Seen(String);

impl Seen {
    pub fn of(seen: &tier::Seen) -> Seen {
        let kind = [seen.raised.clone(), seen.limit.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        Seen(format!("{} {kind}, {} denials", seen.outcome, seen.denials.len()))
    }

    pub fn to_line(&self) -> String {
        self.0.clone()
    }
}
