//! What is behind a row: reasons with file and line, permissions, packages, tests, calls, cost.

use std::collections::BTreeMap;

use super::super::answer::{size, time};
use super::super::model::{Reason, RecordedCall, Row, SkillFigures, Suite};
use super::{esc, sentence, tone};

pub fn evidence(index: usize, skill: &Row, figures: &SkillFigures) -> String {
    let part = |name: &str, title: &str, body: String| {
        if body.is_empty() {
            return String::new();
        }
        format!("<section id=\"e{index}-{name}\" data-part=\"{name}\" tabindex=\"-1\"><h4>{title}</h4>{body}</section>")
    };
    let version = skill.version.as_ref().map_or_else(String::new, |version| format!(" {}", esc(version)));
    let summary =
        skill.summary.as_ref().map_or_else(String::new, |text| format!("<p class=\"summary\">{}</p>", esc(text)));
    format!(
        "<div class=\"panel\"><header><h3>{}{version}</h3><button type=\"button\" class=\"close\" data-close aria-label=\"Close\">×</button></header>{summary}<div class=\"parts\">{}{}{}{}{}{}</div></div>",
        esc(&skill.id),
        part("verdict", "Verdict", verdict(skill)),
        part("packages", "Packages", packages(skill)),
        part("tests", "Tests", tests(skill)),
        part("calls", "Recorded calls", calls(skill)),
        part("pyodide", "Pyodide", pyodide(skill)),
        part("cost", "Cost", cost(figures)),
    )
}

fn verdict(skill: &Row) -> String {
    let verdict = skill.verdict.as_deref().unwrap_or("could not be read");
    let tier = match skill.tier_in_words() {
        "" => String::new(),
        tier => format!(" Best tier: <b>{}</b>.", esc(tier)),
    };
    let problem = skill.problem.as_ref().map_or_else(String::new, |why| format!("<p class=\"bad\">{}</p>", esc(why)));
    let list = |title: &str, all: &[Reason]| {
        let items: String = all
            .iter()
            .map(|reason| {
                let at = reason.at.as_ref().map_or_else(String::new, |at| format!(" <code>{}</code>", esc(at)));
                format!("<li>{}{at}</li>", sentence(&reason.what))
            })
            .collect();
        if items.is_empty() { String::new() } else { format!("{title}<ul>{items}</ul>") }
    };
    let reasons = list("", &skill.reasons);
    let optional = list("<p>It goes on without:</p>", &skill.optional);
    let block = skill.permissions.as_ref().map_or_else(String::new, |block| {
        format!("<p>What it would ask for, for its manifest:</p><pre tabindex=\"0\">{}</pre>", esc(block))
    });
    format!(
        "<p><span class=\"verdict {}\">{}</span>{tier}</p>{problem}{reasons}{optional}{block}",
        tone(skill.verdict.as_deref()),
        esc(verdict)
    )
}

fn packages(skill: &Row) -> String {
    let rows: String = skill
        .packages
        .iter()
        .map(|package| {
            let bad = if package.is_there { "" } else { " class=\"bad\"" };
            let version = package.version.as_ref().map_or_else(String::new, |version| format!(" {}", esc(version)));
            let chain = match package.chain.as_slice() {
                [] | [_] => String::new(),
                [before @ .., _] => format!("for {}. ", esc(&before.join(" → "))),
            };
            format!(
                "<tr><td><code>{}{version}</code></td><td{bad}>{}</td><td>{chain}{}</td></tr>",
                esc(&package.name),
                esc(&package.how),
                esc(&package.detail)
            )
        })
        .collect();
    if rows.is_empty() {
        return "<p>It requires none.</p>".to_owned();
    }
    format!(
        "<div class=\"scroll\"><table class=\"small\"><thead><tr><th scope=\"col\">package</th><th scope=\"col\">in a cell</th>\
         <th scope=\"col\">detail</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn tests(skill: &Row) -> String {
    let tests = &skill.tests;
    let lines: String = [("in cells", &tests.cells), ("natively", &tests.native), ("in Pyodide", &tests.pyodide)]
        .iter()
        .map(|(place, suite)| format!("<li>{place}: {}</li>", outcome(suite)))
        .collect();
    let all = tests.differences.iter();
    let all = all.map(|one| (one.test.as_str(), one.cells.as_str(), one.native.as_deref(), one.reason.as_str()));
    format!("<ul>{lines}</ul>{}", by_reason(all))
}

/// Tests with their outcomes here and natively, those with the same reason together.
fn by_reason<'a>(tests: impl Iterator<Item = (&'a str, &'a str, Option<&'a str>, &'a str)>) -> String {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (test, here, native, reason) in tests {
        let native = native.map_or_else(String::new, |native| format!(", natively {}", esc(native)));
        let line = format!("<li><code>{}</code> {}{native}</li>", esc(test), esc(here));
        reasons.entry(reason).or_default().push(line);
    }
    reasons
        .iter()
        .map(|(reason, all)| {
            let count = if all.len() == 1 { "1 test".to_owned() } else { format!("{} tests", all.len()) };
            format!("<details><summary><b>{count}</b> {}</summary><ul>{}</ul></details>", esc(reason), all.concat())
        })
        .collect()
}

fn outcome(suite: &Suite) -> String {
    match suite {
        Suite::NotRun { not_run } => format!("<span class=\"muted\">{}</span>", esc(not_run)),
        Suite::Ran(counts) if counts.all() == 0 => "it has none".to_owned(),
        Suite::Ran(counts) => {
            let parts = [
                (counts.passed, "passed"),
                (counts.failed, "failed"),
                (counts.errors, "errors"),
                (counts.skipped, "skipped"),
            ];
            let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

fn calls(skill: &Row) -> String {
    let parity = &skill.parity;
    let left_out = parity.left_out.iter();
    let left_out: String = left_out
        .map(|one| format!("<p>Not recorded: <code>{}</code>, since {}.</p>", esc(&one.case), esc(&one.reason)))
        .collect();
    if parity.cases == 0 {
        return left_out;
    }
    let rows: String = parity
        .calls
        .iter()
        .map(|call| {
            let different = parity.different.iter().find(|one| one.case == call.case);
            let inside = match different {
                None => "<td>the same</td>".to_owned(),
                Some(one) => format!("<td><span class=\"bad\">{}</span></td>", esc(&one.reason)),
            };
            format!("<tr><td><code>{}</code></td><td>{}</td>{inside}</tr>", esc(&call.case), ending(call))
        })
        .collect();
    format!(
        "<p>{} of {} give the same.</p>{left_out}<div class=\"scroll\"><table class=\"small\"><thead><tr><th scope=\"col\">call</th>\
         <th scope=\"col\">outside</th><th scope=\"col\">in a cell</th></tr></thead><tbody>{rows}</tbody></table></div>",
        parity.same, parity.cases
    )
}

fn ending(call: &RecordedCall) -> String {
    match call.requests {
        0 => call.ends.name().to_owned(),
        1 => format!("{}, 1 request", call.ends.name()),
        count => format!("{}, {count} requests", call.ends.name()),
    }
}

fn pyodide(skill: &Row) -> String {
    let all = skill.tests.pyodide_differences.iter();
    let all = all.map(|one| (one.test.as_str(), one.pyodide.as_str(), one.native.as_deref(), one.reason.as_str()));
    let tests = skill.tests.pyodide.counts().map_or_else(String::new, |_| {
        format!("<p>Its tests: {}.</p>{}", outcome(&skill.tests.pyodide), by_reason(all))
    });
    tests + &packages_in_pyodide(skill)
}

fn packages_in_pyodide(skill: &Row) -> String {
    if let Some(why) = &skill.pyodide.not_looked_up {
        return format!("<p class=\"muted\">{}</p>", esc(why));
    }
    if skill.pyodide.packages.is_empty() {
        return "<p>It requires no package.</p>".to_owned();
    }
    let list = |how: &str| {
        let names = skill.pyodide.packages.iter().filter(|package| package.how == how).map(|package| {
            let version = package.version.as_ref().map_or_else(String::new, |version| format!(" {}", esc(version)));
            format!("{}{version}", esc(&package.name))
        });
        names.collect::<Vec<_>>().join(", ")
    };
    let line = |title: &str, names: String| {
        if names.is_empty() { String::new() } else { format!("<li>{title}: {names}</li>") }
    };
    format!(
        "<ul>{}{}{}</ul>",
        line("<b class=\"bad\">neither</b>", list("neither")),
        line("in Pyodide", list("in Pyodide")),
        line("pure wheel", list("pure wheel"))
    )
}

fn cost(figures: &SkillFigures) -> String {
    let ms = |value: Option<f64>| value.map(time);
    let seconds = |value: Option<f64>| value.map(|value| time(value * 1e3));
    let lines = [
        ("call in a fresh cell, median", ms(figures.cell_warm_ms)),
        ("first call of a process", ms(figures.cell_cold_ms)),
        ("new Python process, one call", ms(figures.native_process_ms)),
        ("call in a running Python process, median", ms(figures.native_warm_ms)),
        ("making the image, once", ms(figures.bake_ms)),
        ("image on disk", figures.image_bytes.map(size)),
        ("its tests in cells", seconds(figures.tests_in_cells_s)),
        ("its tests natively", seconds(figures.tests_native_s)),
        ("its tests in Pyodide, with its start", seconds(figures.tests_in_pyodide_s)),
        ("the call that was measured, which succeeds", figures.call.as_deref().map(esc)),
        (
            "HTTP requests of that call",
            Some(figures.requests).filter(|count| *count > 0).map(|count| count.to_string()),
        ),
    ];
    let lines = lines.iter().filter_map(|(name, value)| Some(format!("<dt>{name}</dt><dd>{}</dd>", value.as_ref()?)));
    let lines: String = lines.collect();
    if lines.is_empty() { String::new() } else { format!("<dl class=\"costs\">{lines}</dl>") }
}
