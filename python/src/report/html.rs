//! A report as a small table, for notebooks. Everything in it is escaped: it may be the skill's word.

use maud::{Markup, html};

use skillcell_quote::escape_unprintable;

/// The longest text that is shown of a result, an exception or an output.
const SHOWN_CHARS: usize = 2000;

pub fn render_report(report: &skillcell::Report) -> String {
    let time = format!("{:.1} ms", report.usage.wall.as_secs_f64() * 1e3);
    let rows = html! {
        (row("skill", &report.skill))
        (row("outcome", &report.outcome.describe()))
        (row("time", &format!("{time} in {}", report.tier)))
        @if let Some(result) = report.outcome.result() { (row("result", result.get())) }
        @if let Some(raised) = report.outcome.raised() { (row("traceback", &raised.traceback)) }
        @for denial in &report.denials { (row("denied", &with_hint(&denial.message, denial.hint.as_deref()))) }
        @for note in &report.notes { (row("note", &note.message)) }
        (row("stdout", &String::from_utf8_lossy(&report.stdout)))
        (row("stderr", &String::from_utf8_lossy(&report.stderr)))
    };
    html! { table { tbody { (rows) } } }.into_string()
}

/// A row, unless there is nothing to show in it.
fn row(name: &str, text: &str) -> Markup {
    html! {
        @if !text.is_empty() {
            tr { th style="text-align:left" { (name) } td style="text-align:left" { pre { (shorten(text)) } } }
        }
    }
}

fn with_hint(message: &str, hint: Option<&str>) -> String {
    hint.map_or_else(|| message.to_owned(), |hint| format!("{message}\nhint: {hint}"))
}

fn shorten(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN_CHARS);
    let shown = end.map_or_else(|| text.to_owned(), |(at, _)| format!("{}…", &text[..at]));
    escape_unprintable(&shown)
}
