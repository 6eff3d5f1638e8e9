//! The scripts of folders with a `SKILL.md`: all of them at the top, a skill's in the evidence behind its row.

use maud::{Markup, html};

use super::super::model::{Matrix, Row, ScriptRow, ScriptRun};
use super::summary::stacked_bar;
use super::verdict_class;

/// Nothing where no script was compared.
pub fn script_tile(matrix: &Matrix) -> Markup {
    let Some(totals) = matrix.totals.scripts.as_ref().filter(|totals| totals.usage_compared > 0) else {
        return html! {};
    };
    let (same, all) = (totals.usage_same, totals.usage_compared);
    html! {
        article.tile {
            h2 { "Their scripts" }
            p.big { (same) " " small { "of " (all) } }
            (stacked_bar(&[("runs", same), ("rest", all - same)], "Scripts that behave the same"))
            p {
                "behave the same under " code { "--help" } " in a cell and in a process. Of " (totals.scripts) " scripts "
                (totals.with_usage) " have a command line, and a cell has all that " (totals.capable) " of these import."
            }
            @if totals.runs_compared > 0 {
                p {
                    (totals.runs_same) " of " (totals.runs_compared)
                    " real runs with inputs give the same exit code, streams and files."
                }
            }
        }
    }
}

pub fn scripts_part(skill: &Row) -> Markup {
    if skill.scripts.is_empty() {
        return html! {};
    }
    html! {
        div.scroll {
            table.small.scripts {
                thead { tr { th scope="col" { "script" } th scope="col" { "verdict" } th scope="col" { "runs" } } }
                tbody { @for script in &skill.scripts { (script_row(script)) } }
            }
        }
    }
}

fn script_row(script: &ScriptRow) -> Markup {
    let verdict = script.verdict.as_deref();
    html! {
        tr {
            td { code { (script.script) } " " span.muted { (script.kind) } }
            td {
                span class={ "verdict " (verdict_class(verdict)) } { (verdict.unwrap_or("unknown")) }
                @if !script.lacks.is_empty() { " lacks " (script.lacks.join(", ")) "." }
                @if !script.programs.is_empty() { " Starts " (script.programs.join(", ")) "." }
                @if let Some(why) = &script.problem { " " span.bad { (why) } }
            }
            td { @for run in script.usage.iter().chain(&script.runs) { (run_line(run)) } }
        }
    }
}

fn run_line(run: &ScriptRun) -> Markup {
    let why = if run.reason.is_empty() { &run.difference } else { &run.reason };
    html! {
        div {
            code { (run.case) } " " (run.cell)
            @match run.same {
                Some(true) => ", the same in a process",
                Some(false) => { ", " span.bad { "differs" } ": " (why) },
                None => {},
            }
        }
    }
}
