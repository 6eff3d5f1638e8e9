//! The top of the page: what somebody who reads no further should know.

use maud::{Markup, html};

use super::super::model::{Matrix, SkillFigures};
use super::super::summary::{
    VERDICTS, count_running, describe_endings, find_blockers, format_size, format_time, median_figure, with_verdict,
};
use super::scripts::script_tile;
use super::{registry_title, sentence_markup, skill_link, verdict_class};

pub fn summary_section(matrix: &Matrix) -> Markup {
    html! {
        header {
            p.kicker { (registry_title(matrix)) " · " (matrix.runtime) }
            h1 { (headline(matrix)) }
            p.lead {
                "A cell is a fresh CPython inside WebAssembly, made for one call: no processes, no native code from outside, and \
                 no files, network or secrets but what the operator grants. Each skill was read, run and tested in cells as its \
                 author wrote it; the table below has the evidence."
            }
        }
        section.tiles aria-label="The answer" {
            (verdict_tile(matrix)) (script_tile(matrix)) (test_tile(matrix)) (cost_tile(matrix))
        }
        section aria-labelledby="advice" { h2 #advice { "What to do" } (advice_list(matrix)) }
        (blockers_section(matrix))
    }
}

fn headline(matrix: &Matrix) -> String {
    let (all, run) = (matrix.totals.skills, count_running(matrix));
    match run {
        0 => format!("None of {all} skills runs whole in a WebAssembly cell"),
        run if run == all => format!("All {all} skills run in a WebAssembly cell, unchanged"),
        run => format!("{run} of {all} skills run in a WebAssembly cell, unchanged"),
    }
}

fn verdict_tile(matrix: &Matrix) -> Markup {
    let count = |verdict: &str| with_verdict(matrix, verdict).count();
    let parts = VERDICTS.map(|(verdict, ..)| (verdict_class(Some(verdict)), count(verdict)));
    let unknown = matrix.totals.skills - parts.iter().map(|(_, count)| count).sum::<usize>();
    html! {
        article.tile {
            h2 { "Skills" }
            (stacked_bar(&parts, "Skills by verdict"))
            ul.legend {
                @for (verdict, ..) in VERDICTS.iter().filter(|(verdict, ..)| count(verdict) > 0) {
                    li { span class={ "dot " (verdict_class(Some(verdict))) } {} (count(verdict)) " " (verdict) }
                }
                @if unknown > 0 {
                    li { span class="dot unknown" {} (unknown) " could not be read" }
                }
            }
        }
    }
}

fn test_tile(matrix: &Matrix) -> Markup {
    let totals = &matrix.totals;
    let (passed, all, what) = match (totals.pass_natively_and_in_cells, totals.pass_natively, &totals.tests_in_cells) {
        (Some(cells), Some(native), _) => (cells, native, "of the tests that pass natively also pass in cells"),
        (_, _, Some(counts)) => {
            (counts.passed, counts.total() - counts.skipped, "of the skills' own tests pass in cells")
        }
        _ => return html! {},
    };
    let share = if all == 0 { 0.0 } else { passed as f64 * 100.0 / all as f64 };
    html! {
        article.tile {
            h2 { "Their own tests" }
            p.big { (passed) " " small { "of " (all) } }
            (stacked_bar(&[("runs", passed), ("rest", all - passed)], "Tests that pass in cells"))
            p { (format!("{share:.0} % {what}.")) }
            @if totals.parity_cases > 0 {
                p {
                    (totals.parity_same) " of " (totals.parity_cases) " recorded calls give exactly the same result ("
                    (describe_endings(matrix)) ")."
                }
            }
        }
    }
}

fn cost_tile(matrix: &Matrix) -> Markup {
    let Some(cell) = median_figure(matrix, |figures| figures.cell_warm_ms) else { return html! {} };
    let of = |which: fn(&SkillFigures) -> Option<f64>| median_figure(matrix, which).map(format_time);
    let image = median_figure(matrix, |figures| figures.image_bytes.map(|bytes| bytes as f64))
        .map(|bytes| format_size(bytes as u64));
    let lines = [
        ("in a new Python process, no sandbox", of(|figures| figures.native_process_ms)),
        ("first call after a start", of(|figures| figures.cell_cold_ms)),
        ("making its image, once", of(|figures| figures.bake_ms)),
        ("image on disk", image),
    ];
    let measured = matrix.figures.skills.values().filter(|figures| figures.cell_warm_ms.is_some()).count();
    html! {
        article.tile {
            h2 { "What a call costs" }
            p.big { (format_time(cell)) " " small { "in a fresh cell" } }
            dl.costs {
                @for (name, value) in &lines {
                    @if let Some(value) = value { dt { (name) } dd { (value) } }
                }
            }
            p.note { "Medians over the " (measured) " skills with a call that succeeds in a cell." }
        }
    }
}

/// A stacked bar as SVG: the page's Content-Security-Policy blocks style attributes.
pub fn stacked_bar(parts: &[(&str, usize)], label: &str) -> Markup {
    let all: usize = parts.iter().map(|(_, count)| count).sum();
    let percent = |count: usize| count as f64 * 100.0 / all.max(1) as f64;
    let before = |at: usize| percent(parts[..at].iter().map(|(_, count)| count).sum());
    html! {
        svg.bar role="img" aria-label=(label) height="14" {
            @for (at, (tone, count)) in parts.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
                rect class=(tone) x=(format!("{:.2}%", before(at))) width=(format!("{:.2}%", percent(*count))) height="100%" {}
            }
        }
    }
}

fn advice_list(matrix: &Matrix) -> Markup {
    html! {
        div.advices {
            @for (verdict, word, what) in &VERDICTS {
                @let ids: Vec<&str> = with_verdict(matrix, verdict).map(|row| row.id.as_str()).collect();
                @let tone = verdict_class(Some(verdict));
                @if !ids.is_empty() {
                    div class={ "advice " (tone) } {
                        h3 { span class={ "dot " (tone) } {} (word) " " small { (ids.len()) } }
                        p { (what) }
                        ul.ids { @for id in ids { li { (skill_link(matrix, id)) } } }
                    }
                }
            }
        }
    }
}

fn blockers_section(matrix: &Matrix) -> Markup {
    let blockers = find_blockers(matrix);
    if blockers.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="blocks" {
            h2 #blocks { "What blocks the rest" }
            ul.blocks {
                @for (what, ids) in &blockers {
                    li {
                        // A package is a word, a reason a sentence.
                        @if what.contains(' ') { (sentence_markup(what)) } @else { b { (what) } }
                        " "
                        span.muted {
                            @for (at, id) in ids.iter().enumerate() {
                                @if at > 0 { ", " }
                                (skill_link(matrix, id))
                            }
                        }
                    }
                }
            }
        }
    }
}
