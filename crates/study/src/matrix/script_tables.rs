//! Scripts of folders with a `SKILL.md`, as tables for documents.

use super::markdown::escape_cell;
use super::model::Matrix;
use super::script_model::{ScriptRow, ScriptRun, ScriptTotals};
use super::summary::VERDICTS;

/// A study of nothing but such folders, as one document.
pub fn render_scripts(matrix: &Matrix) -> String {
    let mut text = format!(
        "# {}: which scripts of Agent Skills run in WebAssembly\n\nMade by `skillcell matrix`; don't edit.\n\n{}\n## What differs\n\n{}\n## Every script\n\n",
        escape_cell(&matrix.registry.name),
        scripts_summary(matrix),
        script_differences(matrix)
    );
    text.push_str("| skill | script | kind | verdict | lacks | starts | `--help` | runs alike |\n|---|---|---|---|---|---|---|---:|\n");
    for row in &matrix.skills {
        for script in &row.scripts {
            text.push_str(&script_line(&row.id, script));
        }
    }
    text
}

fn script_line(skill: &str, script: &ScriptRow) -> String {
    let compared = script.runs.iter().filter(|run| run.same.is_some()).count();
    let same = script.runs.iter().filter(|run| run.same == Some(true)).count();
    let runs = if compared == 0 { String::new() } else { format!("{same}/{compared}") };
    format!(
        "| `{}` | `{}` | {} | {} | {} | {} | {} | {runs} |\n",
        escape_cell(skill),
        escape_cell(&script.script),
        escape_cell(&script.kind),
        escape_cell(script.verdict.as_deref().unwrap_or("unknown")),
        escape_cell(&script.lacks.join(", ")),
        escape_cell(&script.programs.join(", ")),
        script.usage.as_ref().map(usage_in_words).unwrap_or_default()
    )
}

fn usage_in_words(usage: &ScriptRun) -> String {
    match usage.same {
        Some(true) => "the same".to_owned(),
        Some(false) => "differs".to_owned(),
        None => escape_cell(&usage.cell),
    }
}

/// The counts in sentences, and kinds against verdicts.
pub fn scripts_summary(matrix: &Matrix) -> String {
    let Some(totals) = &matrix.totals.scripts else { return "There are no scripts.\n".to_owned() };
    let mut text = format!("{}\n\n| kind |", sentence(totals));
    let all = || matrix.skills.iter().flat_map(|row| &row.scripts);
    let verdicts: Vec<&str> = VERDICTS.iter().map(|(verdict, ..)| *verdict).collect();
    verdicts.iter().for_each(|verdict| text.push_str(&format!(" {verdict} |")));
    text.push_str(" all |\n|---|");
    text.push_str(&"---:|".repeat(verdicts.len() + 1));
    text.push('\n');
    for (kind, count) in &totals.kinds {
        text.push_str(&format!("| {} |", if kind.is_empty() { "not analysed" } else { kind }));
        for verdict in &verdicts {
            let is = |script: &&ScriptRow| script.kind == *kind && script.verdict.as_deref() == Some(verdict);
            text.push_str(&format!(" {} |", all().filter(is).count()));
        }
        text.push_str(&format!(" {count} |\n"));
    }
    text
}

fn sentence(totals: &ScriptTotals) -> String {
    let share = |part: usize, of: usize| format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64);
    let mut text = format!(
        "{} scripts of {} skills. {} have a command line, and a cell has all that {} of these import. Of those, {} could be \
         compared under `--help`, and {} behave the same: {}.",
        totals.scripts,
        totals.skills,
        totals.with_usage,
        totals.capable,
        totals.usage_compared,
        totals.usage_same,
        share(totals.usage_same, totals.usage_compared)
    );
    if totals.runs_compared > 0 {
        text.push_str(&format!(
            " Of {} real runs with inputs, {} give the same exit code, streams and files: {}.",
            totals.runs_compared,
            totals.runs_same,
            share(totals.runs_same, totals.runs_compared)
        ));
    }
    text
}

/// Each run that is not the same, or could not be compared, with why. Scripts that a cell can't import are not among them.
pub fn script_differences(matrix: &Matrix) -> String {
    let mut text =
        "| skill | script | run | in a cell | in `subprocess` | why |\n|---|---|---|---|---|---|\n".to_owned();
    for row in &matrix.skills {
        for script in row.scripts.iter().filter(|script| script.is_capable()) {
            let runs = script.usage.iter().chain(&script.runs);
            for run in runs.filter(|run| run.same != Some(true) && run.subprocess.is_some()) {
                text.push_str(&format!(
                    "| `{}` | `{}` | {} | {} | {} | {} |\n",
                    escape_cell(&row.id),
                    escape_cell(&script.script),
                    escape_cell(&run.case),
                    escape_cell(&run.cell),
                    escape_cell(run.subprocess.as_deref().unwrap_or_default()),
                    escape_cell(if run.reason.is_empty() { &run.difference } else { &run.reason })
                ));
            }
        }
    }
    text
}
