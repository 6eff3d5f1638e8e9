//! Summaries of the rows: the sentences and lists that the page and the documents begin with. No I/O.

use std::collections::BTreeMap;

use super::model::{Matrix, Row, SkillFigures};

/// The verdicts, best first, with what they mean to an operator.
pub const VERDICTS: [(&str, &str, &str); 4] = [
    ("runs", "Go", "Run it in a cell as it is. It needs nothing from outside."),
    (
        "runs with grants",
        "Go, with grants",
        "Run it in a cell and approve the hosts, folders or secrets that it asks for.",
    ),
    ("partly", "Partial", "Run it in a cell for what works; the rest needs another tier."),
    (
        "not in wasm",
        "Not in WebAssembly",
        "Run it in the strongest tier that has its packages, and only if you trust its origin.",
    ),
];

/// The rows with this verdict.
pub fn with_verdict<'a>(matrix: &'a Matrix, verdict: &'a str) -> impl Iterator<Item = &'a Row> {
    matrix.skills.iter().filter(move |row| row.verdict.as_deref() == Some(verdict))
}

/// How many skills run in a cell, whole.
pub fn count_running(matrix: &Matrix) -> usize {
    VERDICTS[..2].iter().map(|(verdict, ..)| with_verdict(matrix, verdict).count()).sum()
}

/// What stands in the way, with the skills that it stops, most first: packages that no cell can have, else the
/// first three reasons.
pub fn find_blockers(matrix: &Matrix) -> Vec<(String, Vec<&str>)> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for row in &matrix.skills {
        if !matches!(row.verdict.as_deref(), Some("partly" | "not in wasm")) {
            continue;
        }
        let missing = missing_packages(row);
        for package in &missing {
            found.entry((*package).to_owned()).or_default().push(&row.id);
        }
        if missing.is_empty() {
            for reason in first_reasons(row) {
                found.entry(reason.to_owned()).or_default().push(&row.id);
            }
        }
    }
    let mut all: Vec<_> = found.into_iter().collect();
    all.sort_by(|one, other| other.1.len().cmp(&one.1.len()).then_with(|| one.0.cmp(&other.0)));
    all
}

/// The first three reasons with a place in the skill, each once, whether or not they begin with `every call`.
fn first_reasons(row: &Row) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for what in row.reasons.iter().filter(|reason| reason.at.is_some()).map(|reason| reason.what.as_str()) {
        let plain = |text: &'_ str| text.trim_start_matches("every call ").to_owned();
        if found.len() < 3 && !found.iter().any(|known| plain(known) == plain(what)) {
            found.push(what);
        }
    }
    found
}

/// The packages that a skill needs and a cell can't have.
pub fn missing_packages(row: &Row) -> Vec<&str> {
    row.packages.iter().filter(|package| !package.is_there).map(|package| package.name.as_str()).collect()
}

/// The recorded calls by how they end outside, in words: `73 succeed, 30 report an error, 2 raise`.
pub fn describe_endings(matrix: &Matrix) -> String {
    let words = [("succeeds", "succeed"), ("reports an error", "report an error"), ("raises", "raise")];
    let count = |name: &str| matrix.totals.parity_endings.get(name).copied().unwrap_or(0);
    words.map(|(name, word)| format!("{} {word}", count(name))).join(", ")
}

/// The median over the skills that have this figure.
pub fn median_figure(matrix: &Matrix, of: impl Fn(&SkillFigures) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = matrix.figures.skills.values().filter_map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// `0.28 ms`, `1.2 s`.
pub fn format_time(ms: f64) -> String {
    match ms {
        ms if ms >= 10_000.0 => format!("{:.0} s", ms / 1e3),
        ms if ms >= 1000.0 => format!("{:.1} s", ms / 1e3),
        ms if ms >= 10.0 => format!("{ms:.0} ms"),
        ms if ms >= 1.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.2} ms"),
    }
}

/// `25 MB`.
pub fn format_size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1_000_000 => format!("{} MB", (bytes + 500_000) / 1_000_000),
        bytes => format!("{} kB", bytes.div_ceil(1000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(
            [format_time(0.284), format_time(3.15), format_time(57.4), format_time(1234.0)],
            ["0.28 ms", "3.1 ms", "57 ms", "1.2 s"]
        );
    }
}
