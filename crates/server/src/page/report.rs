//! How a call ended, as HTML. Results, output and exceptions are the skill's word: shown as text, up to a length.

use maud::{Markup, html};
use serde_json::Value;

use super::figures::format_time;
use super::sentence_markup;
use skillcell_host::call::Report;
use skillcell_limits::outcome::Raised;
use skillcell_quote::cut;

/// Of each text; `/v1/skills/{id}/calls` gives all of it.
const MAX_SHOWN_BYTES: usize = 64 << 10;
/// Longer results are shown as they came.
const MAX_INDENTED_BYTES: usize = 256 << 10;
const MAX_DENIALS: usize = 20;
const MAX_WORDS_CHARS: usize = 1000;

/// A report, to be seen first on the page that a form leads to.
pub fn report_section(report: &Report) -> Markup {
    let (outcome, usage) = (&report.outcome, &report.usage);
    html! {
        section.result #result aria-labelledby="ended" tabindex="-1" autofocus {
            h2 #ended { "The call: " span.badge data-kind=(outcome.name()) { (outcome.name()) } }
            p { "It took " strong { (format_time(usage.wall)) } ", of which " (format_time(usage.guest)) " in the skill." }
            @if let Some(limit) = outcome.limit() { p { "It went over a limit: " code { (limit) } } }
            (denials_list(report))
            @if let Some(json) = outcome.result() { (text_block("Result", &indent_json(json.get()))) }
            @if let Some(raised) = outcome.raised() { (raised_markup(raised)) }
            @for (name, bytes) in [("stdout", &report.stdout), ("stderr", &report.stderr)] {
                @if !bytes.is_empty() { (text_block(name, &String::from_utf8_lossy(bytes))) }
            }
            @if !report.notes.is_empty() {
                h3 { "Notes" }
                ul { @for note in report.notes.iter().take(MAX_DENIALS) { li { (sentence_markup(&words(&note.message))) } } }
            }
        }
    }
}

fn denials_list(report: &Report) -> Markup {
    html! {
        @if !report.denials.is_empty() {
            h3 { "Denied" }
            ul.denials {
                @for denial in report.denials.iter().take(MAX_DENIALS) {
                    li {
                        (sentence_markup(&words(&denial.message)))
                        @if let Some(flag) = &denial.flag { p.note { "To allow it: " code { (words(flag)) } } }
                    }
                }
                @if report.denials.len() > MAX_DENIALS { li { "and " (report.denials.len() - MAX_DENIALS) " more" } }
            }
        }
    }
}

fn raised_markup(raised: &Raised) -> Markup {
    html! {
        h3 { "Exception" }
        p { code { (words(&raised.kind)) } ": " (words(&raised.message)) }
        @if !raised.traceback.is_empty() { (text_block("Traceback", &raised.traceback)) }
    }
}

fn words(text: &str) -> String {
    cut(text, MAX_WORDS_CHARS)
}

/// A text that may be long; it can be scrolled with the keyboard.
fn text_block(title: &str, text: &str) -> Markup {
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES.min(text.len()));
    html! {
        h3 { (title) }
        pre tabindex="0" role="region" aria-label=(title) { "\n" (text[..end]) }
        @if end < text.len() { p.note { "The first " (end) " of " (text.len()) " bytes." } }
    }
}

/// With line ends and spaces for people, unless it is too long or too deep.
fn indent_json(text: &str) -> String {
    let parsed = (text.len() <= MAX_INDENTED_BYTES).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
    parsed.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_markup_in_it_is_text() {
        let page = text_block("Result", &format!("<b>{}", "é".repeat(MAX_SHOWN_BYTES))).into_string();
        assert!(
            page.contains("&lt;b&gt;") && page.contains("The first 65535 of 131075 bytes."),
            "{}",
            &page[page.len() - 99..]
        );
    }

    #[test]
    fn a_result_is_indented_digit_for_digit_or_left_as_it_is() {
        assert_eq!(indent_json("{\"a\":1.10}"), "{\n  \"a\": 1.10\n}");
        let deep = "[".repeat(500) + &"]".repeat(500);
        assert_eq!(indent_json(&deep), deep);
    }
}
