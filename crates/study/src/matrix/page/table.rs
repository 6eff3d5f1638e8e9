//! The table: one row a skill, each cell a number that sorts, and a way to its evidence.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::super::model::{Matrix, Row, SkillFigures, Suite};
use super::super::summary::{VERDICTS, format_size, format_time};
use super::evidence::evidence_panel;
use super::{breakable_id, row_anchor, verdict_class};
use skillcell_policy::Tier;

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

pub fn skills_table(matrix: &Matrix) -> Markup {
    let nothing = SkillFigures::default();
    html! {
        section #skills aria-labelledby="all" {
            h2 #all { "Every skill" }
            p.hint { "Each cell opens the evidence behind it." }
            (filter_form(matrix))
            div.scroll {
                table #matrix {
                    caption.hidden { "Skills with verdict, tests and cost" }
                    thead {
                        tr {
                            @for (index, column) in COLUMNS.iter().enumerate() {
                                (column_heading(index, column, matrix.totals.tests_in_pyodide.is_some()))
                            }
                        }
                    }
                    tbody {
                        @for (index, skill) in matrix.skills.iter().enumerate() {
                            (skill_row(matrix, index, skill, matrix.figures.skills.get(&skill.id).unwrap_or(&nothing)))
                        }
                    }
                }
            }
            p #none hidden { "No skill matches." }
        }
    }
}

fn column_heading(index: usize, (name, title): &(&str, &str), tests_in_pyodide: bool) -> Markup {
    let title = if *name == PYODIDE && tests_in_pyodide { IN_PYODIDE } else { title };
    // Verdicts and tiers have an order of their own, and are numbered by it.
    let sorts = if index == 1 || index == 2 || is_number(index) { "number" } else { "text" };
    html! {
        th class=[is_number(index).then_some("num")] scope="col" aria-sort="none" {
            button type="button" data-column=(index) data-sorts=(sorts) title=(title) { (name) }
        }
    }
}

/// Whether a column has numbers.
fn is_number(column: usize) -> bool {
    column >= 4
}

fn filter_form(matrix: &Matrix) -> Markup {
    let classes: BTreeSet<&str> = matrix.skills.iter().flat_map(|row| row.classes.iter().map(String::as_str)).collect();
    let is_there = |verdict: &str| matrix.skills.iter().any(|row| row.verdict.as_deref() == Some(verdict));
    html! {
        form.filters #filters role="search" {
            label.find {
                "Find " input #find type="search" placeholder="skill, package, reason" autocomplete="off";
            }
            fieldset {
                legend.hidden { "Verdict" }
                @for (verdict, ..) in VERDICTS.iter().filter(|(verdict, ..)| is_there(verdict)) {
                    label class={ "chip " (verdict_class(Some(verdict))) } { input type="checkbox" value=(verdict); " " (verdict) }
                }
            }
            label {
                "Kind "
                select #kind { option value="" { "all" } @for class in classes { option { (class) } } }
            }
            label.chip { input #odd type="checkbox"; " with differences" }
            output #count aria-live="polite" {}
        }
    }
}

/// What a cell shows, what it is sorted by (nothing for an empty one, which is last in either order), and the part of the
/// evidence that it opens.
struct TableCell {
    html: Markup,
    key: String,
    opens: &'static str,
}

impl TableCell {
    fn new(html: Markup, key: impl ToString, opens: &'static str) -> TableCell {
        TableCell { html, key: key.to_string(), opens }
    }

    fn empty(opens: &'static str) -> TableCell {
        TableCell::new(html! { "–" }, "", opens)
    }
}

fn skill_row(matrix: &Matrix, index: usize, skill: &Row, figures: &SkillFigures) -> Markup {
    let verdict = skill.verdict.as_deref().unwrap_or("could not be read");
    let rank = VERDICTS.iter().position(|(name, ..)| *name == verdict);
    let verdict_html = html! { span class={ "verdict " (verdict_class(skill.verdict.as_deref())) } { (verdict) } };
    let kinds = skill.classes.join(", ");
    let cells = [
        TableCell::new(html! { b.id { (breakable_id(&skill.id)) } }, skill.id.to_lowercase(), "verdict"),
        TableCell::new(verdict_html, rank.map(|rank| rank.to_string()).unwrap_or_default(), "verdict"),
        tier_cell(skill),
        TableCell::new(html! { (kinds) }, &kinds, "verdict"),
        suite_cell(&skill.tests.cells, "tests"),
        suite_cell(&skill.tests.native, "tests"),
        calls_cell(skill),
        pyodide_cell(skill, matrix.totals.tests_in_pyodide.is_some()),
        figure_cell(figures.cell_warm_ms, format_time),
        figure_cell(figures.native_process_ms, format_time),
        figure_cell(figures.image_bytes.map(|bytes| bytes as f64), |bytes| format_size(bytes as u64)),
    ];
    let runs = skill.scripts.iter().flat_map(|script| script.usage.iter().chain(&script.runs));
    let odd = !skill.tests.differences.is_empty()
        || !skill.parity.different.is_empty()
        || runs.into_iter().any(|run| run.same == Some(false));
    let words = [&skill.id, &skill.classes.join(" "), &search_text(skill)].map(|text| text.to_lowercase()).join(" ");
    html! {
        tr.skill id=(row_anchor(matrix, &skill.id)) data-verdict=(verdict) data-kinds=(skill.classes.join("|")) data-odd=(odd)
            data-words=(words) {
            @for (column, cell) in cells.iter().enumerate() {
                @let label = COLUMNS[column].0;
                @if column == 0 {
                    th scope="row" data-key=(cell.key) data-label=(label) { (evidence_button(index, cell)) }
                } @else {
                    td class=[is_number(column).then_some("num")] data-key=(cell.key) data-label=(label) { (evidence_button(index, cell)) }
                }
            }
        }
        tr.evidence id={ "e" (index) } hidden { td colspan=(COLUMNS.len()) { (evidence_panel(index, skill, figures)) } }
    }
}

/// What a cell of the table shows, as the button that opens its evidence.
fn evidence_button(index: usize, cell: &TableCell) -> Markup {
    html! {
        button type="button" data-opens=(cell.opens) aria-expanded="false" aria-controls={ "e" (index) } { (cell.html) }
    }
}

/// What the search box looks at, besides the id and the classes.
fn search_text(skill: &Row) -> String {
    let packages = skill.packages.iter().map(|package| format!("{} {}", package.name, package.how));
    packages.chain(skill.reasons.iter().map(|reason| reason.what.clone())).collect::<Vec<_>>().join(" ")
}

fn tier_cell(skill: &Row) -> TableCell {
    let tier = skill.tier_in_words();
    if tier.is_empty() {
        return TableCell::empty("verdict");
    }
    let rank = Tier::ALL.iter().position(|known| known.name() == tier);
    TableCell::new(html! { (tier) }, rank.map(|rank| rank.to_string()).unwrap_or_default(), "verdict")
}

/// Sorts by the number that passed, then by fewer that did not.
fn suite_cell(suite: &Suite, opens: &'static str) -> TableCell {
    let Some(counts) = suite.counts().filter(|counts| counts.total() > 0) else { return TableCell::empty(opens) };
    let bad = counts.failed + counts.errors;
    let html = html! { (counts.passed) @if bad > 0 { " " span.bad { (bad) " not" } } };
    TableCell::new(html, counts.passed as f64 - bad as f64 / 1e4, opens)
}

fn calls_cell(skill: &Row) -> TableCell {
    let parity = &skill.parity;
    let runs = skill.scripts.iter().flat_map(|script| script.usage.iter().chain(&script.runs));
    let compared: Vec<bool> = runs.filter_map(|run| run.same).collect();
    if !compared.is_empty() {
        return share_cell(compared.iter().filter(|same| **same).count(), compared.len(), "scripts");
    }
    if parity.cases == 0 {
        return TableCell::empty("calls");
    }
    let cell = share_cell(parity.same, parity.cases, "calls");
    let html = html! {
        (cell.html) " "
        @match parity.successes_alike() {
            0 => span.bad { "none succeeds" },
            1 => span.soft { "1 succeeds" },
            count => span.soft { (count) " succeed" },
        }
    };
    TableCell { html, ..cell }
}

/// Tests where they were run, else packages.
fn pyodide_cell(skill: &Row, ran: bool) -> TableCell {
    let packages = &skill.pyodide.packages;
    match skill.pyodide.not_looked_up {
        _ if ran => suite_cell(&skill.tests.pyodide, "pyodide"),
        Some(_) => TableCell::empty("pyodide"),
        None => {
            share_cell(packages.iter().filter(|package| package.how != "neither").count(), packages.len(), "pyodide")
        }
    }
}

/// Sorts by the part, then by the smaller whole.
fn share_cell(part: usize, all: usize, opens: &'static str) -> TableCell {
    let html = html! { span class=[(part != all).then_some("bad")] { (part) " / " (all) } };
    TableCell::new(html, part as f64 - all as f64 / 1e4, opens)
}

fn figure_cell(value: Option<f64>, show: impl Fn(f64) -> String) -> TableCell {
    value.map_or_else(|| TableCell::empty("cost"), |value| TableCell::new(html! { (show(value)) }, value, "cost"))
}
