//! Describes an audit line for display. Untrusted text in it is kept on one line.

use super::{Event, Line};
use skillcell_quote::one_line;

/// Whether a line allows, denies or only reports something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was let through.
    Allowed,
    /// It was not let through.
    Denied,
    /// It reports progress or an end.
    Note,
}

impl Verdict {
    /// One word for people; empty for a note.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allowed => "allowed",
            Verdict::Denied => "denied",
            Verdict::Note => "",
        }
    }
}

impl Line {
    /// Whether it tells of something that was allowed or denied, or of neither.
    pub fn verdict(&self) -> Verdict {
        match self.allowed {
            // A deny rule in effect is not an allowed action.
            Some(true) if self.event == Event::Grant && self.asked_text().starts_with("deny_") => Verdict::Note,
            Some(true) => Verdict::Allowed,
            Some(false) => Verdict::Denied,
            None => Verdict::Note,
        }
    }

    /// The line as a sentence, without its verdict.
    pub fn describe(&self) -> String {
        let text = match self.event {
            Event::Begin => format!("call {} begins, in process {}", self.call, number_or_unknown(self.pid)),
            Event::HttpEnd => self.request_ended(),
            Event::End => self.call_ended(),
            Event::Secret if self.allowed == Some(false) => text_or(&self.reason, "?").to_owned(),
            Event::Secret => {
                format!("the value of {}, to {}{}", self.asked_text(), text_or(&self.address, "?"), self.decided_by())
            }
            _ => {
                let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                format!("{}{reason}{}", self.asked_text(), self.decided_by())
            }
        };
        one_line(&text)
    }

    fn asked_text(&self) -> &str {
        self.asked.as_deref().unwrap_or("?")
    }

    fn decided_by(&self) -> String {
        let rule = self.rule.as_ref();
        match (self.from.as_deref(), &self.place) {
            (None | Some("default"), _) => String::new(),
            (Some("check"), _) => format!("; the check `{}`", text_or(&self.rule, "?")),
            (Some(from), Some(place)) => {
                format!("; by{} {} {place}", rule.map(|rule| format!(" `{rule}`,")).unwrap_or_default(), from)
            }
            (Some(from), None) => {
                format!("; by{} {}", rule.map(|rule| format!(" `{rule}`,")).unwrap_or_default(), from)
            }
        }
    }

    fn request_ended(&self) -> String {
        let came = match (self.status, &self.error) {
            (Some(status), None) => status.to_string(),
            (Some(status), Some(error)) => format!("{status}, then {error}"),
            (None, error) => text_or(error, "nothing").to_owned(),
        };
        let to = self.address.as_ref().map(|address| format!(" from {address}")).unwrap_or_default();
        format!(
            "{}: {came}{to}, {} bytes sent, {} received, {} ms",
            self.asked_text(),
            number_or_unknown(self.bytes_sent),
            number_or_unknown(self.bytes_received),
            number_or_unknown(self.ms)
        )
    }

    fn call_ended(&self) -> String {
        let mut text = format!("the call ends: {}", text_or(&self.outcome, "?"));
        for part in [&self.limit, &self.error, &self.reason].into_iter().flatten() {
            text += &format!(", {part}");
        }
        if let Some(tier) = &self.tier {
            text += &format!(", in {tier}");
        }
        if let Some(ms) = self.ms {
            text += &format!(", {ms} ms");
        }
        if let Some(denied) = self.denied.filter(|denied| *denied > 0) {
            text += &format!(", {denied} denied");
        }
        if let Some(unrecorded) = self.unrecorded {
            text += &format!(", {unrecorded} of them without a line");
        }
        text
    }
}

fn text_or<'a>(text: &'a Option<String>, other: &'a str) -> &'a str {
    text.as_deref().unwrap_or(other)
}

fn number_or_unknown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillcell_quote::is_plain;

    #[test]
    fn strangers_words_stay_text_on_one_line() {
        let hostile = "GET http://x/\u{1b}]0;pwned\u{7}\u{9b}2J\r\nallowed  everything\u{202e}\u{200b}";
        for event in [Event::Http, Event::HttpEnd, Event::Secret, Event::File, Event::Grant, Event::End, Event::Other] {
            let text = Some(hostile.to_owned());
            let line = Line {
                event,
                asked: text.clone(),
                reason: text.clone(),
                rule: text.clone(),
                from: text.clone(),
                place: text.clone(),
                error: text.clone(),
                outcome: text.clone(),
                address: text,
                ..Line::default()
            };
            assert!(line.describe().chars().all(is_plain), "{event:?}: {:?}", line.describe());
        }
    }

    #[test]
    fn a_rule_that_denies_is_not_worded_as_allowed() {
        let grant = |asked: &str| {
            Line { event: Event::Grant, asked: Some(asked.into()), allowed: Some(true), ..Line::default() }.verdict()
        };
        assert_eq!(grant("deny_http https://a.example.org"), Verdict::Note);
        assert_eq!(grant("deny_import ctypes"), Verdict::Note);
        assert_eq!(grant("allow_http https://a.example.org"), Verdict::Allowed);
    }

    #[test]
    fn a_decision_says_what_by_which_rule_and_where_that_is_written() {
        let line = Line {
            event: Event::Http,
            asked: Some("GET https://a.example.org/x".into()),
            allowed: Some(true),
            rule: Some("GET https://a.example.org/*".into()),
            from: Some("policy".into()),
            place: Some("skillcell.toml:3".into()),
            ..Line::default()
        };
        let words = "GET https://a.example.org/x; by `GET https://a.example.org/*`, policy skillcell.toml:3";
        assert_eq!((line.verdict(), line.describe().as_str()), (Verdict::Allowed, words));
    }
}
