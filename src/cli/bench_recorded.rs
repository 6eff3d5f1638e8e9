//! `skillcell bench --recorded`: the recorded calls of the pinned registry, in fresh cells and in a running Python.

use super::printer::{Printer, one_line};
use skillcell_study::matrix::{FLOOR_MS, SkillCalls, median_times};

/// More than this is told with its reason.
const MUCH: f64 = 10.0;

pub fn print_table(skills: &[SkillCalls], printer: &Printer) {
    let mut rows: Vec<(f64, Vec<String>)> = skills.iter().filter_map(row).collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, row)| row).collect();
    printer.print_table(&["", "calls", "cell ms", "Python ms", "times", "most", "warm", "bake ms"], &rows);
    if let Some(times) = median_times(skills) {
        printer.print_line(&format!(
            "a fresh cell takes {times:.1}× the same call in a running Python, for the median skill, without {FLOOR_MS} ms \
             for a call that does nothing"
        ));
    }
    for skill in
        skills.iter().filter(|skill| skill.cold_reason.is_some() || skill.times().is_some_and(|times| times > MUCH))
    {
        let why = skill.cold_reason.as_deref().unwrap_or("all of its calls are warm");
        printer.print_line(&one_line(&format!("{}: {why}", skill.skill)));
    }
}

/// The medians of a skill's calls.
fn row(skill: &SkillCalls) -> Option<(f64, Vec<String>)> {
    let times = skill.times()?;
    let middle = |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let cell = middle(skill.calls.iter().map(|call| call.cell_ms).collect());
    let python = middle(skill.calls.iter().map(|call| call.python_ms).collect());
    let most = skill.calls.iter().map(|call| call.times()).fold(0.0, f64::max);
    let warmth = serde_json::to_value(&skill.warmth).ok()?;
    let row = vec![
        skill.skill.clone(),
        skill.calls.len().to_string(),
        format!("{cell:.3}"),
        format!("{python:.3}"),
        format!("{times:.1}"),
        format!("{most:.1}"),
        warmth.as_str().unwrap_or_default().to_owned(),
        format!("{:.0}", skill.bake_ms),
    ];
    Some((times, row))
}
