//! The table: one row a skill, each cell a number that sorts, and a way to its evidence.

use std::collections::BTreeSet;

use super::super::answer::{VERDICTS, size, time};
use super::super::model::{Matrix, Row, SkillFigures, Suite};
use super::evidence::evidence;
use super::{esc, id, tone};

/// Heading, what it means, and the section of the evidence that its cells open.
const COLUMNS: [(&str, &str); 11] = [
    ("Skill", "The skill's id"),
    ("Verdict", "Whether it runs in a cell"),
    ("Best tier", "Where all of it can run"),
    ("Kind", "Its classes"),
    ("Tests in cells", "Its own tests that pass in cells"),
    ("Natively", "The same tests outside any sandbox"),
    ("Calls alike", "Recorded calls with the same result"),
    (PYODIDE, "Packages that Pyodide has, of those it needs"),
    ("Call", "A call in a fresh cell, median"),
    ("Process", "A new Python process that calls it once"),
    ("Image", "Its image on disk"),
];

/// The column that shows tests where they were run in Pyodide, and packages else; and what it means then.
const PYODIDE: &str = "Pyodide";
const IN_PYODIDE: &str = "The same tests in Pyodide on Node.js";

pub fn table(matrix: &Matrix) -> String {
    let tests_in_pyodide = matrix.totals.tests_in_pyodide.is_some();
    let heads: String = COLUMNS
        .iter()
        .enumerate()
        .map(|(index, (name, title))| {
            let title = if *name == PYODIDE && tests_in_pyodide { IN_PYODIDE } else { title };
            let number = if index >= 4 { " class=\"num\"" } else { "" };
            format!("<th scope=\"col\"{number} aria-sort=\"none\"><button type=\"button\" data-column=\"{index}\" title=\"{title}\">{name}</button></th>")
        })
        .collect();
    let nothing = SkillFigures::default();
    let rows: String = matrix
        .skills
        .iter()
        .enumerate()
        .map(|(index, skill)| {
            row(index, skill, matrix.figures.skills.get(&skill.id).unwrap_or(&nothing), tests_in_pyodide)
        })
        .collect();
    format!(
        "<section id=\"skills\" aria-labelledby=\"all\"><h2 id=\"all\">Every skill</h2><p class=\"hint\">Each cell opens the evidence behind it.</p>{}\
         <div class=\"scroll\"><table id=\"matrix\"><caption class=\"hidden\">Skills with verdict, tests and cost</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>\
         <p id=\"none\" hidden>No skill matches.</p></section>\n",
        filters(matrix),
    )
}

fn filters(matrix: &Matrix) -> String {
    let classes: BTreeSet<&str> = matrix.skills.iter().flat_map(|row| row.classes.iter().map(String::as_str)).collect();
    let classes: String = classes.iter().map(|class| format!("<option>{}</option>", esc(class))).collect();
    let verdicts: String = VERDICTS
        .iter()
        .filter(|(verdict, ..)| matrix.skills.iter().any(|row| row.verdict.as_deref() == Some(verdict)))
        .map(|(verdict, ..)| {
            format!(
                "<label class=\"chip {}\"><input type=\"checkbox\" value=\"{verdict}\"> {verdict}</label>",
                tone(Some(verdict))
            )
        })
        .collect();
    format!(
        "<form class=\"filters\" id=\"filters\" role=\"search\"><label class=\"find\">Find <input type=\"search\" id=\"find\" placeholder=\"skill, package, reason\" autocomplete=\"off\"></label>\
         <fieldset><legend class=\"hidden\">Verdict</legend>{verdicts}</fieldset>\
         <label>Kind <select id=\"kind\"><option value=\"\">all</option>{classes}</select></label>\
         <label class=\"chip\"><input type=\"checkbox\" id=\"odd\"> with differences</label>\
         <output id=\"count\" aria-live=\"polite\"></output></form>"
    )
}

fn row(index: usize, skill: &Row, figures: &SkillFigures, tests_in_pyodide: bool) -> String {
    let verdict = skill.verdict.as_deref().unwrap_or("could not be read");
    let rank = VERDICTS.iter().position(|(name, ..)| *name == verdict).unwrap_or(9);
    let (tests, tests_rank) = suite(&skill.tests.cells);
    let (native, native_rank) = suite(&skill.tests.native);
    let has = skill.pyodide.packages.iter().filter(|package| package.how != "neither").count();
    let (pyodide, pyodide_rank) = match &skill.pyodide.not_looked_up {
        _ if tests_in_pyodide => suite(&skill.tests.pyodide),
        Some(_) => ("–".to_owned(), -1.0),
        None if skill.pyodide.packages.is_empty() => ("all".to_owned(), 1.0),
        None => share(has, skill.pyodide.packages.len()),
    };
    let (parity, parity_rank) =
        if skill.parity.cases == 0 { ("–".to_owned(), -1.0) } else { share(skill.parity.same, skill.parity.cases) };
    let cells = [
        (format!("<b class=\"id\">{}</b>", id(&skill.id)), skill.id.to_lowercase(), "verdict"),
        (
            format!("<span class=\"verdict {}\">{}</span>", tone(skill.verdict.as_deref()), esc(verdict)),
            rank.to_string(),
            "verdict",
        ),
        (esc(skill.best_tier.as_deref().unwrap_or("–")), skill.best_tier.clone().unwrap_or_default(), "verdict"),
        (esc(&skill.classes.join(", ")), skill.classes.join(","), "verdict"),
        (tests, tests_rank.to_string(), "tests"),
        (native, native_rank.to_string(), "tests"),
        (parity, parity_rank.to_string(), "calls"),
        (pyodide, pyodide_rank.to_string(), "pyodide"),
        figure(figures.cell_warm_ms, time),
        figure(figures.native_process_ms, time),
        figure(figures.image_bytes.map(|bytes| bytes as f64), |bytes| size(bytes as u64)),
    ];
    let cells: String = cells
        .iter()
        .enumerate()
        .map(|(column, (html, key, section))| {
            let tag = if column == 0 { "th scope=\"row\"" } else { "td" };
            let end = if column == 0 { "th" } else { "td" };
            let number = if column >= 4 { " class=\"num\"" } else { "" };
            format!(
                "<{tag}{number} data-key=\"{}\" data-label=\"{}\"><button type=\"button\" data-opens=\"{section}\" aria-expanded=\"false\" aria-controls=\"e{index}\">{html}</button></{end}>",
                esc(key),
                COLUMNS[column].0
            )
        })
        .collect();
    let odd = !skill.tests.differences.is_empty() || !skill.parity.different.is_empty();
    let words = [&skill.id, &skill.classes.join(" "), &words(skill)].map(|text| text.to_lowercase()).join(" ");
    format!(
        "<tr class=\"skill\" data-verdict=\"{}\" data-kinds=\"{}\" data-odd=\"{odd}\" data-words=\"{}\">{cells}</tr>\n<tr class=\"evidence\" id=\"e{index}\" hidden><td colspan=\"{}\">{}</td></tr>\n",
        esc(verdict),
        esc(&skill.classes.join("|")),
        esc(&words),
        COLUMNS.len(),
        evidence(index, skill, figures),
    )
}

/// What a search looks at beside the id.
fn words(skill: &Row) -> String {
    let packages = skill.packages.iter().map(|package| format!("{} {}", package.name, package.how));
    packages.chain(skill.reasons.iter().map(|reason| reason.what.clone())).collect::<Vec<_>>().join(" ")
}

fn suite(suite: &Suite) -> (String, f64) {
    match suite.counts() {
        None => ("–".to_owned(), -1.0),
        Some(counts) if counts.all() == 0 => ("none".to_owned(), -0.5),
        Some(counts) => {
            let bad = counts.failed + counts.errors;
            let bad = if bad > 0 { format!(" <span class=\"bad\">{bad} not</span>") } else { String::new() };
            (format!("{}{bad}", counts.passed), counts.passed as f64 / (counts.all() - counts.skipped).max(1) as f64)
        }
    }
}

fn share(part: usize, all: usize) -> (String, f64) {
    let tone = if part == all { "" } else { " class=\"bad\"" };
    (format!("<span{tone}>{part} / {all}</span>"), part as f64 / all.max(1) as f64)
}

fn figure(value: Option<f64>, show: impl Fn(f64) -> String) -> (String, String, &'static str) {
    let key = value.map_or_else(|| "-1".to_owned(), |value| value.to_string());
    (value.map_or_else(|| "–".to_owned(), show), key, "cost")
}
