//! The table: one row a skill, each cell a number that sorts, and a way to its evidence.

use std::collections::BTreeSet;

use super::super::answer::{VERDICTS, size, time};
use super::super::model::{Matrix, Row, SkillFigures, Suite};
use super::evidence::evidence;
use super::{anchor, esc, id, tone};
use crate::policy::Tier;

/// Heading, what it means, and the section of the evidence that its cells open.
const COLUMNS: [(&str, &str); 11] = [
    ("Skill", "The skill's id"),
    ("Verdict", "Whether it runs in a cell"),
    ("Best tier", "The least tier that has what it needs, if its tests ran there"),
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
            // Verdicts and tiers have an order of their own, and are numbered by it.
            let sorts = if index == 1 || index == 2 || index >= 4 { "number" } else { "text" };
            format!("<th scope=\"col\"{number} aria-sort=\"none\"><button type=\"button\" data-column=\"{index}\" data-sorts=\"{sorts}\" title=\"{title}\">{name}</button></th>")
        })
        .collect();
    let nothing = SkillFigures::default();
    let rows: String = matrix
        .skills
        .iter()
        .enumerate()
        .map(|(index, skill)| row(matrix, index, skill, matrix.figures.skills.get(&skill.id).unwrap_or(&nothing)))
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

/// What a cell shows, what it is sorted by (nothing for an empty one, which is last in either order), and the part of the
/// evidence that it opens.
struct TableCell {
    html: String,
    key: String,
    opens: &'static str,
}

impl TableCell {
    fn new(html: String, key: impl ToString, opens: &'static str) -> TableCell {
        TableCell { html, key: key.to_string(), opens }
    }

    fn empty(opens: &'static str) -> TableCell {
        TableCell::new("–".to_owned(), "", opens)
    }
}

fn row(matrix: &Matrix, index: usize, skill: &Row, figures: &SkillFigures) -> String {
    let verdict = skill.verdict.as_deref().unwrap_or("could not be read");
    let rank = VERDICTS.iter().position(|(name, ..)| *name == verdict);
    let verdict_html = format!("<span class=\"verdict {}\">{}</span>", tone(skill.verdict.as_deref()), esc(verdict));
    let kinds = skill.classes.join(", ");
    let cells = [
        TableCell::new(format!("<b class=\"id\">{}</b>", id(&skill.id)), skill.id.to_lowercase(), "verdict"),
        TableCell::new(verdict_html, rank.map(|rank| rank.to_string()).unwrap_or_default(), "verdict"),
        best_tier(skill),
        TableCell::new(esc(&kinds), &kinds, "verdict"),
        suite(&skill.tests.cells, "tests"),
        suite(&skill.tests.native, "tests"),
        calls_alike(skill),
        pyodide(skill, matrix.totals.tests_in_pyodide.is_some()),
        figure(figures.cell_warm_ms, time),
        figure(figures.native_process_ms, time),
        figure(figures.image_bytes.map(|bytes| bytes as f64), |bytes| size(bytes as u64)),
    ];
    let cells: String = cells
        .iter()
        .enumerate()
        .map(|(column, TableCell { html, key, opens })| {
            let tag = if column == 0 { "th scope=\"row\"" } else { "td" };
            let end = if column == 0 { "th" } else { "td" };
            let number = if column >= 4 { " class=\"num\"" } else { "" };
            format!(
                "<{tag}{number} data-key=\"{}\" data-label=\"{}\"><button type=\"button\" data-opens=\"{opens}\" aria-expanded=\"false\" aria-controls=\"e{index}\">{html}</button></{end}>",
                esc(key),
                COLUMNS[column].0
            )
        })
        .collect();
    let odd = !skill.tests.differences.is_empty() || !skill.parity.different.is_empty();
    let words = [&skill.id, &skill.classes.join(" "), &words(skill)].map(|text| text.to_lowercase()).join(" ");
    format!(
        "<tr class=\"skill\" id=\"{}\" data-verdict=\"{}\" data-kinds=\"{}\" data-odd=\"{odd}\" data-words=\"{}\">{cells}</tr>\n<tr class=\"evidence\" id=\"e{index}\" hidden><td colspan=\"{}\">{}</td></tr>\n",
        anchor(matrix, &skill.id),
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

fn best_tier(skill: &Row) -> TableCell {
    let tier = skill.tier_in_words();
    if tier.is_empty() {
        return TableCell::empty("verdict");
    }
    let rank = Tier::ALL.iter().position(|known| known.name() == tier);
    TableCell::new(esc(tier), rank.map(|rank| rank.to_string()).unwrap_or_default(), "verdict")
}

/// By the number that is shown; of the same, those with fewer that did not pass are more.
fn suite(suite: &Suite, opens: &'static str) -> TableCell {
    let Some(counts) = suite.counts().filter(|counts| counts.all() > 0) else { return TableCell::empty(opens) };
    let bad = counts.failed + counts.errors;
    let note = if bad > 0 { format!(" <span class=\"bad\">{bad} not</span>") } else { String::new() };
    TableCell::new(format!("{}{note}", counts.passed), counts.passed as f64 - bad as f64 / 1e4, opens)
}

fn calls_alike(skill: &Row) -> TableCell {
    let parity = &skill.parity;
    if parity.cases == 0 {
        return TableCell::empty("calls");
    }
    let mut cell = share(parity.same, parity.cases, "calls");
    cell.html += &match parity.successes_alike() {
        0 => " <span class=\"bad\">none succeeds</span>".to_owned(),
        1 => " <span class=\"soft\">1 succeeds</span>".to_owned(),
        count => format!(" <span class=\"soft\">{count} succeed</span>"),
    };
    cell
}

/// Tests where they were run, else packages.
fn pyodide(skill: &Row, ran: bool) -> TableCell {
    let packages = &skill.pyodide.packages;
    match skill.pyodide.not_looked_up {
        _ if ran => suite(&skill.tests.pyodide, "pyodide"),
        Some(_) => TableCell::empty("pyodide"),
        None => share(packages.iter().filter(|package| package.how != "neither").count(), packages.len(), "pyodide"),
    }
}

/// By the part; of the same, those of fewer are more.
fn share(part: usize, all: usize, opens: &'static str) -> TableCell {
    let tone = if part == all { "" } else { " class=\"bad\"" };
    TableCell::new(format!("<span{tone}>{part} / {all}</span>"), part as f64 - all as f64 / 1e4, opens)
}

fn figure(value: Option<f64>, show: impl Fn(f64) -> String) -> TableCell {
    value.map_or_else(|| TableCell::empty("cost"), |value| TableCell::new(show(value), value, "cost"))
}
