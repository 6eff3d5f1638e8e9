//! The matrix as tables for documents, and putting them there.
//!
//! A document holds a table between `<!-- generated: NAME -->` and `<!-- end: NAME -->`; what is between is replaced, so the
//! table is never edited by hand, and a test can tell when it is stale.

use super::model::{Matrix, Row, SkillFigures, Suite};
use super::script_tables::{render_scripts, script_differences, scripts_summary};
use super::summary::{
    VERDICTS, count_running, describe_endings, find_blockers, format_size, format_time, median_figure,
    missing_packages, with_verdict,
};
use skillcell_quote::one_line;

/// A table's name, and what writes it.
type Table = (&'static str, fn(&Matrix) -> String);

/// The tables by name, in no particular order.
const TABLES: [Table; 8] = [
    ("matrix-answer", answer_table),
    ("matrix-skills", skills_table),
    ("matrix-blockers", blockers_table),
    ("matrix-costs", costs_table),
    ("matrix-medians", medians_sentence),
    ("matrix-pyodide", pyodide_table),
    ("matrix-scripts", scripts_summary),
    ("matrix-script-differences", script_differences),
];

/// The most reasons in a cell of a table, and the most characters of one.
const MAX_REASONS: usize = 3;
const MAX_REASON: usize = 100;

/// All tables, as one document.
pub fn render_document(matrix: &Matrix) -> String {
    if matrix.skills.iter().all(|row| !row.scripts.is_empty()) && !matrix.skills.is_empty() {
        return render_scripts(matrix);
    }
    let version = matrix.registry.version.as_deref().unwrap_or_default();
    format!(
        "# {} {version}: which skills run in WebAssembly\n\nMade by `skillcell matrix`; don't edit.\n\n{}\n{}\n## What blocks the rest\n\n{}\n## What a call costs\n\n{}\n## Pyodide\n\n{}",
        escape_cell(&matrix.registry.name),
        answer_table(matrix),
        skills_table(matrix),
        blockers_table(matrix),
        costs_table(matrix),
        pyodide_table(matrix)
    )
}

/// The text with its generated parts made anew. A part that is not known here, or has no end, is an error.
pub fn fill_in(text: &str, matrix: &Matrix) -> Result<String, String> {
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("<!-- generated: matrix-") {
        let (before, here) = rest.split_at(at);
        let name = here["<!-- generated: ".len()..].split(" -->").next().unwrap_or_default();
        let end = format!("<!-- end: {name} -->");
        let (_, make) =
            TABLES.iter().find(|(known, _)| *known == name).ok_or_else(|| format!("there is no table `{name}`"))?;
        // What was between the marks is dropped.
        let (_, after) = here.split_once(&end).ok_or_else(|| format!("the table `{name}` has no `{end}`"))?;
        made.push_str(&format!("{before}<!-- generated: {name} -->\n{}{end}", make(matrix)));
        rest = after;
    }
    made.push_str(rest);
    Ok(made)
}

fn answer_table(matrix: &Matrix) -> String {
    let totals = &matrix.totals;
    let mut text = format!("**{} of {} skills run in a cell, unchanged.**", count_running(matrix), totals.skills);
    if let (Some(cells), Some(native)) = (totals.pass_natively_and_in_cells, totals.pass_natively) {
        text.push_str(&format!(" Of the {native} tests that pass natively, {cells} pass in cells."));
    } else if let Some(counts) = &totals.tests_in_cells {
        text.push_str(&format!(
            " {} of their tests pass in cells, {} don't.",
            counts.passed,
            counts.failed + counts.errors
        ));
    }
    if totals.parity_cases > 0 {
        text.push_str(&format!(
            " Of {} recorded calls ({}), {} give exactly the same.",
            totals.parity_cases,
            describe_endings(matrix),
            totals.parity_same
        ));
    }
    text.push_str("\n\n| verdict | skills | which |\n|---|---:|---|\n");
    for (verdict, ..) in VERDICTS {
        let ids: Vec<String> = with_verdict(matrix, verdict).map(|row| format!("`{}`", escape_cell(&row.id))).collect();
        text.push_str(&format!("| **{verdict}** | {} | {} |\n", ids.len(), ids.join(", ")));
    }
    text
}

fn skills_table(matrix: &Matrix) -> String {
    let mut text = "| skill | kind | verdict | best tier | tests in cells | natively | calls alike | of these succeed | packages that a cell can't have |\n|---|---|---|---|---:|---:|---:|---:|---|\n".to_owned();
    for row in &matrix.skills {
        let missing: Vec<String> = missing_packages(row).into_iter().map(escape_cell).collect();
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            escape_cell(&row.id),
            escape_cell(&row.classes.join(", ")),
            escape_cell(row.verdict.as_deref().unwrap_or("could not be read")),
            escape_cell(row.tier_in_words()),
            suite_text(&row.tests.cells),
            suite_text(&row.tests.native),
            parity_text(row),
            row.parity.successes_alike(),
            missing.join(", ")
        ));
    }
    text
}

fn suite_text(suite: &Suite) -> String {
    match suite.counts() {
        None => "not run".to_owned(),
        Some(counts) => format!("{}/{}", counts.passed, counts.passed + counts.failed + counts.errors),
    }
}

fn parity_text(row: &Row) -> String {
    if row.parity.cases == 0 { String::new() } else { format!("{}/{}", row.parity.same, row.parity.cases) }
}

fn blockers_table(matrix: &Matrix) -> String {
    let mut text = "| what | stops |\n|---|---|\n".to_owned();
    for (what, ids) in find_blockers(matrix) {
        let ids: Vec<String> = ids.iter().map(|id| format!("`{}`", escape_cell(id))).collect();
        text.push_str(&format!("| {} | {} |\n", escape_cell(&what), ids.join(", ")));
    }
    text
}

fn costs_table(matrix: &Matrix) -> String {
    let mut text = format!(
        "{}\n\n| skill | the call | call in a fresh cell | first call of a process | new Python process | call in a running Python | image, made once | image on disk |\n|---|---|---:|---:|---:|---:|---:|---:|\n",
        escape_cell(&matrix.figures.machine)
    );
    for (id, figures) in &matrix.figures.skills {
        text.push_str(&cost_row(&format!("`{}`", escape_cell(id)), &call_that_was_measured(figures), figures));
    }
    text.push_str(&cost_row("**median**", "", &median_figures(matrix)));
    text
}

/// The median of each figure.
fn median_figures(matrix: &Matrix) -> SkillFigures {
    let of = |which: fn(&SkillFigures) -> Option<f64>| median_figure(matrix, which);
    SkillFigures {
        bake_ms: of(|figures| figures.bake_ms),
        image_bytes: of(|figures| figures.image_bytes.map(|bytes| bytes as f64)).map(|bytes| bytes as u64),
        cell_cold_ms: of(|figures| figures.cell_cold_ms),
        cell_warm_ms: of(|figures| figures.cell_warm_ms),
        native_process_ms: of(|figures| figures.native_process_ms),
        native_warm_ms: of(|figures| figures.native_warm_ms),
        ..SkillFigures::default()
    }
}

/// The last row of the costs, for those who read no further.
fn medians_sentence(matrix: &Matrix) -> String {
    let figures = median_figures(matrix);
    let measured = matrix.figures.skills.values().filter(|figures| figures.call.is_some()).count();
    let ms = |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), format_time);
    format!(
        "Medians over the {measured} skills with a call that succeeds in a cell: {} in a fresh cell, {} for the first call of a process; {} in a new Python process without any sandbox, {} in a running one. Making an image: {}, once; on disk it is {}.\n",
        ms(figures.cell_warm_ms),
        ms(figures.cell_cold_ms),
        ms(figures.native_process_ms),
        ms(figures.native_warm_ms),
        ms(figures.bake_ms),
        figures.image_bytes.map(format_size).unwrap_or_default()
    )
}

fn call_that_was_measured(figures: &SkillFigures) -> String {
    match (&figures.call, figures.requests) {
        (Some(call), 0) => escape_cell(call),
        (Some(call), 1) => format!("{}, 1 request", escape_cell(call)),
        (Some(call), count) => format!("{}, {count} requests", escape_cell(call)),
        (None, _) => "none succeeds in a cell".to_owned(),
    }
}

fn cost_row(name: &str, call: &str, figures: &SkillFigures) -> String {
    let ms = |value: Option<f64>| value.map(format_time).unwrap_or_default();
    format!(
        "| {name} | {call} | {} | {} | {} | {} | {} | {} |\n",
        ms(figures.cell_warm_ms),
        ms(figures.cell_cold_ms),
        ms(figures.native_process_ms),
        ms(figures.native_warm_ms),
        ms(figures.bake_ms),
        figures.image_bytes.map(format_size).unwrap_or_default()
    )
}

fn pyodide_table(matrix: &Matrix) -> String {
    let mut text = format!(
        "{}.{}\n\n| skill | packages, with all that they pull in | neither in Pyodide nor as a pure wheel | tests in cells | tests in Pyodide | what fails there |\n|---|---:|---|---:|---:|---|\n",
        escape_cell(&matrix.pyodide),
        pyodide_totals(matrix)
    );
    for row in
        matrix.skills.iter().filter(|row| !row.pyodide.packages.is_empty() || row.tests.pyodide.counts().is_some())
    {
        let missing: Vec<String> =
            row.pyodide.packages.iter().filter(|one| one.how == "neither").map(|one| escape_cell(&one.name)).collect();
        let all = row.pyodide.packages.len();
        let packages = match row.pyodide.not_looked_up {
            Some(_) => "not looked up".to_owned(),
            None => format!("{}/{all}", all - missing.len()),
        };
        text.push_str(&format!(
            "| `{}` | {packages} | {} | {} | {} | {} |\n",
            escape_cell(&row.id),
            missing.join(", "),
            suite_text(&row.tests.cells),
            suite_text(&row.tests.pyodide),
            reasons_in_pyodide(row).iter().map(|reason| escape_cell(reason)).collect::<Vec<_>>().join("; ")
        ));
    }
    text
}

/// All tests that ran in Pyodide, against the same skills' in cells.
fn pyodide_totals(matrix: &Matrix) -> String {
    let (Some(pyodide), Some(cells)) = (&matrix.totals.tests_in_pyodide, &matrix.totals.tests_in_cells) else {
        return String::new();
    };
    format!(
        " There {} tests pass, {} fail and {} are errors; in cells it is {}, {} and {}. A file that can't be imported is one error.",
        pyodide.passed, pyodide.failed, pyodide.errors, cells.passed, cells.failed, cells.errors
    )
}

/// Why tests did not pass in Pyodide, each reason once, the most frequent first, and not more than three.
fn reasons_in_pyodide(row: &Row) -> Vec<String> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for one in &row.tests.pyodide_differences {
        match counted.iter_mut().find(|(reason, _)| *reason == one.reason) {
            Some((_, count)) => *count += 1,
            None => counted.push((&one.reason, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = counted.len().saturating_sub(MAX_REASONS);
    let shown = counted.iter().take(MAX_REASONS).map(|(reason, _)| shorten_reason(reason));
    shown.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

/// The start of a reason: what is longer is on the page.
fn shorten_reason(reason: &str) -> String {
    if reason.chars().count() <= MAX_REASON {
        return reason.to_owned();
    }
    reason.chars().take(MAX_REASON - 1).chain(['…']).collect()
}

/// Escapes untrusted text for a table: no markup, no end of the cell.
pub(super) fn escape_cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in one_line(&text.replace(['\n', '\r', '\t'], " ")).chars() {
        match c {
            '|' | '<' | '>' | '&' | '`' | '[' | ']' | '*' | '\\' => safe.push_str(&format!("&#{};", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_generated_stays_and_unknown_tables_are_errors() {
        let matrix = super::super::model::tests_support::empty();
        let text = "before\n<!-- generated: matrix-blockers -->\nold\n<!-- end: matrix-blockers -->\nafter\n";
        let made = fill_in(text, &matrix).unwrap();
        assert!(
            made.starts_with("before\n<!-- generated: matrix-blockers -->\n| what |")
                && made.ends_with("<!-- end: matrix-blockers -->\nafter\n")
        );
        assert_eq!(fill_in(&made, &matrix).unwrap(), made);
        assert!(fill_in("<!-- generated: matrix-other -->", &matrix).is_err());
        assert!(fill_in("<!-- generated: matrix-skills --> and no end", &matrix).is_err());
    }

    #[test]
    fn a_tier_in_which_no_tests_ran_has_no_name() {
        let mut matrix = super::super::model::tests_support::empty();
        for (verdict, likely, best) in [("runs", "wasm", Some("wasm")), ("not in wasm", "subprocess", None)] {
            let mut row = super::super::model::tests_support::row(&format!("a/{likely}"), verdict);
            (row.likely_tier, row.best_tier) = (Some(likely.into()), best.map(str::to_owned));
            matrix.skills.push(row);
        }
        let table = skills_table(&matrix);
        assert!(table.contains("| runs | wasm |") && table.contains("| not in wasm | not tried |"), "{table}");
    }

    #[test]
    fn a_strangers_text_ends_no_cell() {
        assert_eq!(escape_cell("a|b\n`c`<d>"), "a&#124;b &#96;c&#96;&#60;d&#62;");
    }
}
