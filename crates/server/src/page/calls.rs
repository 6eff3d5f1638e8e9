//! The list of calls: those that ended last, and, while somebody watches, those that begin and end.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use maud::{Markup, html};
use serde::Serialize;

use super::figures::format_time;
use super::skill_path;
use crate::CallEvent;
use skillcell_quote::{brief, cut};

/// Rows of the list, here and in the script.
pub const MAX_ROWS: usize = 50;
const MAX_CLIENT_CHARS: usize = 64;

/// A call as it is shown; every text is harmless, and short.
#[derive(Debug, Clone, Serialize)]
pub struct CallRow {
    call: u64,
    /// When it began or ended: a time of the day, in UTC.
    at: String,
    skill: String,
    href: String,
    client: String,
    outcome: String,
    took: String,
    denials: Vec<String>,
}

impl CallRow {
    pub fn new(at: SystemTime, event: &CallEvent) -> CallRow {
        let (call, skill, client) = match event {
            CallEvent::Started { call, skill, client, .. } | CallEvent::Ended { call, skill, client, .. } => {
                (*call, skill, client)
            }
        };
        let (outcome, took, denials) = match event {
            CallEvent::Started { .. } => ("running", String::new(), &[][..]),
            CallEvent::Ended { outcome, took_ms, denials, .. } => {
                (outcome.as_str(), format_time(Duration::from_secs_f64(took_ms / 1e3)), &denials[..])
            }
        };
        CallRow {
            call,
            at: time_of_day(at),
            skill: brief(skill),
            href: skill_path(skill),
            client: client.as_deref().map_or_else(String::new, |name| cut(name, MAX_CLIENT_CHARS)),
            outcome: outcome.to_owned(),
            took,
            denials: denials.iter().map(|denial| brief(denial)).collect(),
        }
    }
}

/// The list, with the last call first.
pub fn calls_section(rows: &[CallRow]) -> Markup {
    html! {
        section.calls aria-labelledby="calls" {
            div.line {
                h2 #calls { "Calls" }
                button #pause type="button" aria-pressed="false" hidden { "Pause" }
                p #live.note { "The last " (MAX_ROWS) " that ended before this page was loaded; times are UTC." }
            }
            p #said.hidden role="status" aria-live="polite" {}
            table role="table" {
                thead role="rowgroup" {
                    tr role="row" {
                        @for name in ["Call", "At", "Skill", "By", "Outcome", "Took", "Denied"] {
                            th role="columnheader" scope="col" { (name) }
                        }
                    }
                }
                tbody #rows role="rowgroup" data-most=(MAX_ROWS) { @for row in rows { (row_markup(row)) } }
            }
            p #none.note hidden[!rows.is_empty()] { "There was no call yet." }
        }
    }
}

/// The script makes rows of the same shape.
fn row_markup(row: &CallRow) -> Markup {
    html! {
        tr role="row" data-call=(row.call) {
            td.number role="cell" { (row.call) }
            td.at role="cell" { (row.at) }
            td.skill role="cell" { a href=(row.href) { (row.skill) } }
            td.client role="cell" { (row.client) }
            td.outcome role="cell" { span.badge data-kind=(row.outcome) { (row.outcome) } }
            td.took role="cell" { (row.took) }
            td.denied role="cell" { @for denial in &row.denials { p { (denial) } } }
        }
    }
}

fn time_of_day(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_a_hostile_name_is_only_text() {
        let event = CallEvent::Ended {
            call: 7,
            skill: "a/<script>\u{202e}".to_owned() + &"x".repeat(9999),
            client: None,
            outcome: "refused".to_owned(),
            took_ms: 0.25,
            denials: vec!["<img src=x onerror=alert(1)>\n".repeat(1000)],
        };
        let row = CallRow::new(UNIX_EPOCH + Duration::from_secs(86_399), &event);
        let page = calls_section(&[row]).into_string();
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains('\u{202e}'), "{page}");
        assert!(page.contains("23:59:59") && page.contains("0.25 ms"), "{page}");
        let shown = page.split("onerror").count();
        assert!(shown < 20, "{shown}");
    }
}
