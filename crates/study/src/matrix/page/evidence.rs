//! What is behind a row: reasons with file and line, permissions, packages, tests, calls, cost.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::model::{Package, Reason, RecordedCall, Row, SkillFigures, Suite};
use super::super::summary::{format_size, format_time};
use super::scripts::scripts_part;
use super::{sentence_markup, verdict_class};

pub fn evidence_panel(index: usize, skill: &Row, figures: &SkillFigures) -> Markup {
    let parts = [
        ("verdict", "Verdict", verdict_part(skill)),
        ("scripts", "Scripts", scripts_part(skill)),
        ("packages", "Packages", packages_part(skill)),
        ("tests", "Tests", tests_part(skill)),
        ("calls", "Recorded calls", calls_part(skill)),
        ("pyodide", "Pyodide", pyodide_part(skill)),
        ("cost", "Cost", cost_part(figures)),
    ];
    html! {
        div.panel {
            header {
                h3 { (skill.id) (after_blank(skill.version.as_deref())) }
                button.close type="button" data-close aria-label="Close" { "×" }
            }
            @if let Some(summary) = &skill.summary { p.summary { (summary) } }
            div.parts {
                @for (name, title, body) in parts.iter().filter(|(.., body)| !body.0.is_empty()) {
                    section id={ "e" (index) "-" (name) } data-part=(name) tabindex="-1" { h4 { (title) } (body) }
                }
            }
        }
    }
}

fn after_blank(text: Option<&str>) -> Markup {
    html! { @if let Some(text) = text { " " (text) } }
}

fn verdict_part(skill: &Row) -> Markup {
    html! {
        p {
            span class={ "verdict " (verdict_class(skill.verdict.as_deref())) } {
                (skill.verdict.as_deref().unwrap_or("could not be read"))
            }
            @let tier = skill.tier_in_words();
            @if !tier.is_empty() { " Best tier: " b { (tier) } "." }
        }
        @if let Some(why) = &skill.problem { p.bad { (why) } }
        (reason_list(&skill.reasons))
        @if !skill.optional.is_empty() { p { "It goes on without:" } }
        (reason_list(&skill.optional))
        @if let Some(block) = &skill.permissions {
            p { "What it would ask for, for its manifest:" }
            pre tabindex="0" { (block) }
        }
    }
}

fn reason_list(all: &[Reason]) -> Markup {
    html! {
        @if !all.is_empty() {
            ul {
                @for reason in all {
                    li { (sentence_markup(&reason.what)) @if let Some(at) = &reason.at { " " code { (at) } } }
                }
            }
        }
    }
}

fn packages_part(skill: &Row) -> Markup {
    if skill.packages.is_empty() {
        return html! { p { "It requires none." } };
    }
    small_table(
        ["package", "in a cell", "detail"],
        html! { @for package in &skill.packages { (package_row(package)) } },
    )
}

fn package_row(package: &Package) -> Markup {
    let before = package.chain.split_last().map_or(&[][..], |(_, before)| before);
    html! {
        tr {
            td { code { (package.name) (after_blank(package.version.as_deref())) } }
            td class=[(!package.is_there).then_some("bad")] { (package.how) }
            td { @if !before.is_empty() { "for " (before.join(" → ")) ". " } (package.detail) }
        }
    }
}

fn small_table(heads: [&str; 3], rows: Markup) -> Markup {
    html! {
        div.scroll {
            table.small {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { (rows) }
            }
        }
    }
}

fn tests_part(skill: &Row) -> Markup {
    let tests = &skill.tests;
    let all = tests.differences.iter();
    let all = all.map(|one| (one.test.as_str(), one.cells.as_str(), one.native.as_deref(), one.reason.as_str()));
    html! {
        ul {
            @for (place, suite) in [("in cells", &tests.cells), ("natively", &tests.native), ("in Pyodide", &tests.pyodide)] {
                li { (place) ": " (suite_outcome(suite)) }
            }
        }
        (by_reason(all))
    }
}

/// Tests with their outcomes here and natively, those with the same reason together.
fn by_reason<'a>(tests: impl Iterator<Item = (&'a str, &'a str, Option<&'a str>, &'a str)>) -> Markup {
    let mut reasons: BTreeMap<&str, Vec<Markup>> = BTreeMap::new();
    for (test, here, native, reason) in tests {
        let line = html! { li { code { (test) } " " (here) @if let Some(native) = native { ", natively " (native) } } };
        reasons.entry(reason).or_default().push(line);
    }
    html! {
        @for (reason, all) in &reasons {
            details {
                summary { b { (all.len()) @if all.len() == 1 { " test" } @else { " tests" } } " " (reason) }
                ul { @for line in all { (line) } }
            }
        }
    }
}

fn suite_outcome(suite: &Suite) -> Markup {
    match suite {
        Suite::NotRun { not_run } => html! { span.muted { (not_run) } },
        Suite::Ran(counts) if counts.total() == 0 => html! { "it has none" },
        Suite::Ran(counts) => {
            let parts = [
                (counts.passed, "passed"),
                (counts.failed, "failed"),
                (counts.errors, "errors"),
                (counts.skipped, "skipped"),
            ];
            let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
            html! { (parts.collect::<Vec<_>>().join(", ")) }
        }
    }
}

fn calls_part(skill: &Row) -> Markup {
    let parity = &skill.parity;
    let rows = html! {
        @for call in &parity.calls {
            tr {
                td { code { (call.case) } }
                td { (call_ending(call)) }
                td {
                    @match parity.different.iter().find(|one| one.case == call.case) {
                        None => "the same",
                        Some(one) => span.bad { (one.reason) },
                    }
                }
            }
        }
    };
    html! {
        @if parity.cases > 0 { p { (parity.same) " of " (parity.cases) " give the same." } }
        @for one in &parity.left_out { p { "Not recorded: " code { (one.case) } ", since " (one.reason) "." } }
        @if parity.cases > 0 { (small_table(["call", "outside", "in a cell"], rows)) }
    }
}

fn call_ending(call: &RecordedCall) -> String {
    match call.requests {
        0 => call.ends.name().to_owned(),
        1 => format!("{}, 1 request", call.ends.name()),
        count => format!("{}, {count} requests", call.ends.name()),
    }
}

fn pyodide_part(skill: &Row) -> Markup {
    let all = skill.tests.pyodide_differences.iter();
    let all = all.map(|one| (one.test.as_str(), one.pyodide.as_str(), one.native.as_deref(), one.reason.as_str()));
    html! {
        @if skill.tests.pyodide.counts().is_some() {
            p { "Its tests: " (suite_outcome(&skill.tests.pyodide)) "." }
            (by_reason(all))
        }
        (packages_in_pyodide(skill))
    }
}

fn packages_in_pyodide(skill: &Row) -> Markup {
    if let Some(why) = &skill.pyodide.not_looked_up {
        return html! { p.muted { (why) } };
    }
    if skill.pyodide.packages.is_empty() {
        return html! { p { "It requires no package." } };
    }
    let list = |how: &str| {
        let packages = skill.pyodide.packages.iter().filter(|package| package.how == how);
        let names = packages.map(|package| match &package.version {
            Some(version) => format!("{} {version}", package.name),
            None => package.name.clone(),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    let line = |title: Markup, names: String| html! { @if !names.is_empty() { li { (title) ": " (names) } } };
    html! {
        ul {
            (line(html! { b.bad { "neither" } }, list("neither")))
            (line(html! { "in Pyodide" }, list("in Pyodide")))
            (line(html! { "pure wheel" }, list("pure wheel")))
        }
    }
}

fn cost_part(figures: &SkillFigures) -> Markup {
    let ms = |value: Option<f64>| value.map(format_time);
    let seconds = |value: Option<f64>| value.map(|value| format_time(value * 1e3));
    let lines = [
        ("call in a fresh cell, median", ms(figures.cell_warm_ms)),
        ("first call of a process", ms(figures.cell_cold_ms)),
        ("new Python process, one call", ms(figures.native_process_ms)),
        ("call in a running Python process, median", ms(figures.native_warm_ms)),
        ("making the image, once", ms(figures.bake_ms)),
        ("image on disk", figures.image_bytes.map(format_size)),
        ("its tests in cells", seconds(figures.tests_in_cells_s)),
        ("its tests natively", seconds(figures.tests_native_s)),
        ("its tests in Pyodide, with its start", seconds(figures.tests_in_pyodide_s)),
        ("the call that was measured, which succeeds", figures.call.clone()),
        (
            "HTTP requests of that call",
            Some(figures.requests).filter(|count| *count > 0).map(|count| count.to_string()),
        ),
    ];
    let lines: Vec<(&str, &String)> = lines.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?))).collect();
    html! {
        @if !lines.is_empty() {
            dl.costs { @for (name, value) in &lines { dt { (name) } dd { (value) } } }
        }
    }
}
