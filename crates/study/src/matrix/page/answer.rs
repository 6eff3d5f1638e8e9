//! The top of the page: what somebody who reads no further should know.

use super::super::answer::{VERDICTS, blockers, endings, median, running, size, time, with_verdict};
use super::super::model::Matrix;
use super::{esc, link, registry, sentence, tone};

pub fn answer(matrix: &Matrix) -> String {
    format!(
        "<header><p class=\"kicker\">{} · {}</p><h1>{}</h1><p class=\"lead\">A cell is a fresh \
         CPython inside WebAssembly, made for one call: no processes, no native code from outside, and no files, network or \
         secrets but what the operator grants. Each skill was read, run and tested in cells as its author wrote it; the table \
         below has the evidence.</p></header>\n<section class=\"tiles\" aria-label=\"The answer\">{}{}{}</section>\n\
         <section aria-labelledby=\"advice\"><h2 id=\"advice\">What to do</h2>{}</section>\n{}",
        esc(&registry(matrix)),
        esc(&matrix.runtime),
        headline(matrix),
        verdict_tile(matrix),
        test_tile(matrix),
        cost_tile(matrix),
        advice(matrix),
        blocked(matrix),
    )
}

fn headline(matrix: &Matrix) -> String {
    let (all, run) = (matrix.totals.skills, running(matrix));
    match run {
        0 => format!("None of {all} skills runs whole in a WebAssembly cell"),
        run if run == all => format!("All {all} skills run in a WebAssembly cell, unchanged"),
        run => format!("{run} of {all} skills run in a WebAssembly cell, unchanged"),
    }
}

fn verdict_tile(matrix: &Matrix) -> String {
    let count = |verdict: &str| with_verdict(matrix, verdict).count();
    let parts = VERDICTS.map(|(verdict, ..)| (tone(Some(verdict)), count(verdict)));
    let words = VERDICTS.iter().filter(|(verdict, ..)| count(verdict) > 0).map(|(verdict, ..)| {
        format!("<li><span class=\"dot {}\"></span>{} {verdict}</li>", tone(Some(verdict)), count(verdict))
    });
    let unknown = matrix.totals.skills - parts.iter().map(|(_, count)| count).sum::<usize>();
    let unknown = if unknown > 0 {
        format!("<li><span class=\"dot unknown\"></span>{unknown} could not be read</li>")
    } else {
        String::new()
    };
    format!(
        "<article class=\"tile\"><h2>Skills</h2>{}<ul class=\"legend\">{}{unknown}</ul></article>",
        bar(&parts, "Skills by verdict"),
        words.collect::<String>()
    )
}

fn test_tile(matrix: &Matrix) -> String {
    let totals = &matrix.totals;
    let (passed, all, what) = match (totals.pass_natively_and_in_cells, totals.pass_natively, &totals.tests_in_cells) {
        (Some(cells), Some(native), _) => (cells, native, "of the tests that pass natively also pass in cells"),
        (_, _, Some(counts)) => {
            (counts.passed, counts.all() - counts.skipped, "of the skills' own tests pass in cells")
        }
        _ => return String::new(),
    };
    let share = if all == 0 { 0.0 } else { passed as f64 * 100.0 / all as f64 };
    let parity = if totals.parity_cases > 0 {
        format!(
            "<p>{} of {} recorded calls give exactly the same result ({}).</p>",
            totals.parity_same,
            totals.parity_cases,
            endings(matrix)
        )
    } else {
        String::new()
    };
    format!(
        "<article class=\"tile\"><h2>Their own tests</h2><p class=\"big\">{passed} <small>of {all}</small></p>{}<p>{share:.0} % {what}.</p>{parity}</article>",
        bar(&[("runs", passed), ("rest", all - passed)], "Tests that pass in cells"),
    )
}

fn cost_tile(matrix: &Matrix) -> String {
    let Some(cell) = median(matrix, |figures| figures.cell_warm_ms) else { return String::new() };
    let line = |name: &str, value: Option<String>| {
        value.map_or_else(String::new, |value| format!("<dt>{name}</dt><dd>{value}</dd>"))
    };
    let of = |which: fn(&super::super::model::SkillFigures) -> Option<f64>| median(matrix, which).map(time);
    let image = median(matrix, |figures| figures.image_bytes.map(|bytes| bytes as f64)).map(|bytes| size(bytes as u64));
    format!(
        "<article class=\"tile\"><h2>What a call costs</h2><p class=\"big\">{} <small>in a fresh cell</small></p><dl class=\"costs\">{}{}{}{}</dl><p class=\"note\">Medians over the {} skills with a call that succeeds in a cell.</p></article>",
        time(cell),
        line("in a new Python process, no sandbox", of(|figures| figures.native_process_ms)),
        line("first call after a start", of(|figures| figures.cell_cold_ms)),
        line("making its image, once", of(|figures| figures.bake_ms)),
        line("image on disk", image),
        matrix.figures.skills.values().filter(|figures| figures.cell_warm_ms.is_some()).count(),
    )
}

/// Widths as an SVG: a style attribute would need a hole in the page's policy.
fn bar(parts: &[(&str, usize)], label: &str) -> String {
    let all: usize = parts.iter().map(|(_, count)| count).sum();
    let mut at = 0.0;
    let rects: String = parts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(tone, count)| {
            let width = *count as f64 * 100.0 / all.max(1) as f64;
            let rect = format!("<rect class=\"{tone}\" x=\"{at:.2}%\" width=\"{width:.2}%\" height=\"100%\"/>");
            at += width;
            rect
        })
        .collect();
    format!("<svg class=\"bar\" role=\"img\" aria-label=\"{label}\" height=\"14\">{rects}</svg>")
}

fn advice(matrix: &Matrix) -> String {
    let rows = VERDICTS.iter().filter_map(|(verdict, word, what)| {
        let ids: Vec<String> = with_verdict(matrix, verdict).map(|row| format!("<li>{}</li>", link(matrix, &row.id))).collect();
        if ids.is_empty() {
            return None;
        }
        Some(format!(
            "<div class=\"advice {tone}\"><h3><span class=\"dot {tone}\"></span>{word} <small>{}</small></h3><p>{what}</p><ul class=\"ids\">{}</ul></div>",
            ids.len(),
            ids.concat(),
            tone = tone(Some(verdict)),
        ))
    });
    format!("<div class=\"advices\">{}</div>", rows.collect::<String>())
}

fn blocked(matrix: &Matrix) -> String {
    let blockers = blockers(matrix);
    if blockers.is_empty() {
        return String::new();
    }
    let items: String = blockers
        .iter()
        .map(|(what, ids)| {
            let ids: Vec<String> = ids.iter().map(|id| link(matrix, id)).collect();
            // A package is a word, a reason a sentence.
            let what = if what.contains(' ') { sentence(what) } else { format!("<b>{}</b>", esc(what)) };
            format!("<li>{what} <span class=\"muted\">{}</span></li>", ids.join(", "))
        })
        .collect();
    format!(
        "<section aria-labelledby=\"blocks\"><h2 id=\"blocks\">What blocks the rest</h2><ul class=\"blocks\">{items}</ul></section>\n"
    )
}
