//! Runs the pairs of a family, and lists everything that is not as its case file says.

use serde_json::{Value, json};

use crate::answers;
use crate::case::{self, Before, Folder, Given, Half, Pair};
use crate::props;
use crate::recorded;
use crate::stage::{Stage, Words};
use crate::tier;
use skillcell::Tier;

/// Does nothing; it must work after everything.
const NOTHING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/skills-compat/demo/nothing");

/// All pairs of a family; `ESCAPE_ONLY` runs those whose name has it in it, `ESCAPE_EVERY` one of so many.
pub fn family(name: &str) {
    let only = std::env::var("ESCAPE_ONLY").unwrap_or_default();
    let every: usize = std::env::var("ESCAPE_EVERY").map_or(1, |every| every.parse().expect("a number"));
    let (mut ran, mut wrong) = (0, Vec::new());
    for folder in case::folders(name) {
        let named = folder.pairs.iter().filter(|pair| folder.name_of(pair).contains(&only));
        let steady = named.filter(|pair| every == 1 || recorded::is_steady(&folder.name_of(pair)));
        for pair in steady.step_by(every) {
            ran += 1;
            let started = std::time::Instant::now();
            let found = run(&folder, pair);
            let found = if tier::is_as_written() { found } else { recorded::check(&folder.name_of(pair), found) };
            wrong.extend(found.into_iter().map(|what| format!("{}: {what}", folder.name_of(pair))));
            // Other tiers take a while; all families in cells are a few seconds.
            if !tier::is_as_written() || !only.is_empty() {
                println!("{}: {} ms", folder.name_of(pair), started.elapsed().as_millis());
            }
        }
    }
    recorded::save();
    assert!(wrong.is_empty(), "{} of {ran} pairs of `{name}`:\n\n{}\n", wrong.len(), wrong.join("\n\n"));
}

fn run(folder: &Folder, pair: &Pair) -> Vec<String> {
    let mut wrong = half(folder, pair, "allowed", &pair.allowed);
    wrong.extend(half(folder, pair, "denied", &pair.denied));
    wrong
}

fn half(folder: &Folder, pair: &Pair, which: &str, half: &Half) -> Vec<String> {
    let mut stage = Stage::set(&folder.stage, &tier::words());
    let given = pair.both.and(&half.with);
    let mut props: Vec<_> =
        given.during.iter().map(|(name, settings)| (name, props::start(name, settings, &mut stage))).collect();
    let mut wrong = Vec::new();
    for before in &given.before {
        wrong.extend(make_before(folder, before, &given, &stage));
    }
    let inventory = stage.inventory();
    let seen = tier::call(&folder.path.to_string_lossy(), &params(pair, half, &stage.words), &given, &stage);
    let expected = half.gives_on.get(tier::place()).unwrap_or(&half.gives);
    let differs = expected.compare(&seen, &stage.words);
    if !differs.is_empty() && !tier::is_as_written() {
        wrong.push(recorded::Seen::of(&seen).to_line());
    } else {
        wrong.extend(differs);
    }
    for (name, prop) in &mut props {
        let saw = half.saw.get(*name).map(|expected| prop.check(expected)).unwrap_or_default();
        wrong.extend(saw.into_iter().map(|what| broken("a prop saw otherwise", &what)));
    }
    drop(props);
    wrong.extend(changes(&stage, inventory, half, &given));
    // A secret's value comes out in neither half.
    if which == "denied" || !given.secret.is_empty() {
        let files = if given.secret.is_empty() { String::new() } else { written(folder, &stage) };
        let left = seen.everything.clone() + &files;
        wrong.extend(
            forms(stage.words.get("canary"))
                .iter()
                .filter(|form| left.contains(*form))
                .map(|form| broken("the marker came out", &format!("as {form}: {}", seen.brief()))),
        );
    }
    if which == "denied" && (*tier::TIER == Tier::Wasm || !wrong.is_empty()) {
        wrong.extend(does_nothing());
    }
    if !tier::is_as_written() {
        return wrong.into_iter().map(|what| format!("{which}: {what}")).collect();
    }
    if wrong.is_empty() { wrong } else { vec![format!("{which}: {}", wrong.join("\n    "))] }
}

fn params(pair: &Pair, half: &Half, words: &Words) -> Value {
    let mut params = pair.params.clone();
    params.extend(half.params.clone());
    let mounts = [&pair.both, &pair.allowed.with, &pair.denied.with].into_iter().flat_map(|given| &given.mount);
    tier::at_home(words.json(&toml::Value::Table(params)), mounts, words)
}

/// A call that comes first, on the same host.
fn make_before(folder: &Folder, before: &Before, given: &Given, stage: &Stage) -> Vec<String> {
    let path = before.skill.as_ref().map_or(folder.path.clone(), |skill| case::root().join(skill));
    let params = stage.words.json(&toml::Value::Table(before.params.clone()));
    let granted = if before.granted { given.http() } else { Given::default() };
    let given = Given { env: before.env.clone(), limits: before.limits.clone(), ..granted };
    let calls = (0..before.times.unwrap_or(1)).map(|_| tier::call(&path.to_string_lossy(), &params, &given, stage));
    calls
        .filter(|seen| seen.outcome != before.outcome)
        .map(|seen| format!("the call before: {}", seen.brief()))
        .collect()
}

/// A half changes what its case file says, and else nothing. What a prop does to the stage is not looked at.
fn changes(
    stage: &Stage,
    before: std::collections::BTreeMap<String, String>,
    half: &Half,
    given: &Given,
) -> Vec<String> {
    let after = stage.inventory();
    let Some(leaves) = &half.leaves else {
        if after == before || !given.during.is_empty() {
            return Vec::new();
        }
        let differ = |name: &&String| after.get(*name) != before.get(*name);
        let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).filter(differ).collect();
        return vec![broken("files of the host were changed", &format!("{names:?}"))];
    };
    let differs = |(path, text): (&String, &String)| {
        let text = stage.words.fill(text);
        let came = std::fs::read_to_string(stage.path(path)).ok();
        (came.as_ref() != Some(&text)).then(|| format!("`{path}` afterwards: expected {text:?}, came {came:?}"))
    };
    leaves.iter().filter_map(differs).collect()
}

/// The marker as it is and as it could be hidden by a skill that means well enough to tell.
fn forms(canary: &str) -> Vec<String> {
    let hex = answers::hex(canary.as_bytes());
    let escaped: String = canary.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let mut forms = vec![canary.to_owned(), hex.to_uppercase(), hex, escaped.to_uppercase(), escaped];
    forms.push(canary.chars().rev().collect());
    for before in 0..3 {
        // Without the digits that depend on what is around it.
        let text = answers::base64(format!("{}{canary}", &"   "[..before]).as_bytes());
        forms.push(text.chars().skip(4).take(text.len() - 8).collect());
    }
    forms
}

/// Everything in files of the stage that the case file did not put there.
fn written(folder: &Folder, stage: &Stage) -> String {
    let inventory = stage.inventory().into_iter();
    inventory.filter(|(path, _)| !folder.stage.files.contains_key(path)).map(|(_, about)| about).collect()
}

fn does_nothing() -> Vec<String> {
    let stage = Stage::set(&case::StageFile::default(), &[]);
    let seen = tier::call(NOTHING, &json!({}), &Given::default(), &stage);
    if seen.result == r#"{"ok":true}"# { Vec::new() } else { vec![broken("the next call fails", &seen.brief())] }
}

/// What no tier may do. In a record it has no particulars, which change from run to run.
fn broken(what: &str, particulars: &str) -> String {
    if tier::is_as_written() { format!("{what}: {particulars}") } else { format!("BROKEN: {what}") }
}
