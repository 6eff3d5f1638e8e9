//! One line of the audit log: its fields, serialization and parsing. docs/reference/audit.md specifies the format.
//!
//! A line is ASCII without control characters, whatever strangers put into it, and has a bound.

use serde::{Deserialize, Serialize};

use skillcell_quote::ascii_json;

/// The version of the format. A change that could break a reader raises it.
pub const SCHEMA: u32 = 1;
/// The longest text in a line, as it is written.
const MAX_TEXT_BYTES: usize = 2048;
/// The most texts of a list.
const MAX_LIST: usize = 64;
/// The longest line; more than the bounds of its texts and lists add up to.
pub const MAX_LINE_BYTES: usize = 64 << 10;

/// What a line records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A call begins.
    Begin,
    /// What the call was granted, or was not.
    Grant,
    /// A host's name was to be looked up.
    Name,
    /// A connection is made.
    Connect,
    /// A request was to be made, or a connection that was denied.
    Http,
    /// A secret's value goes into a request.
    Secret,
    /// A request that was allowed is over.
    HttpEnd,
    /// A folder of the host is used for the first time, or something was done to a file that is not allowed.
    File,
    /// A call is over.
    End,
    /// An event of a newer version.
    #[default]
    #[serde(other)]
    Other,
}

/// A line. What it has besides the first six fields depends on the event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Line {
    /// The version of the format: 1.
    pub schema: u32,
    /// RFC 3339, UTC, milliseconds.
    pub when: String,
    /// Random, 32 hexadecimal digits.
    pub call: String,
    /// The skill's id: `category/name`, or the folder's name.
    pub skill: String,
    /// Of the skill's files: see `Skill::digest`.
    pub digest: String,
    /// What it tells of; the other fields follow from that.
    pub event: Event,
    /// The tier that the call is made in, once that is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// What was asked for; a URL is without its query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// What was decided; none where nothing was to be decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The rule's source: `flag`, `policy`, `approval`, `program`, `default` or `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Where it is written: the flag, or file and line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Why it was denied; at the end of a call, what the host could not do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where the request went, or the proxy's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The HTTP status of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How a request failed, in a word; at the end of a call, the exception's class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Names of secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Of a request, heads included and before TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<u64>,
    /// Of the answer's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_received: Option<u64>,
    /// Milliseconds that the request or the call took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Of skillcell, where a call begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The process that makes the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Names of environment variables that the call brings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The request that a server made the call for, where it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The `traceparent` of that request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// The name of the token that it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// How the call ended, by the name in the JSON contract, or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The limit that ended the call, by the name in the JSON contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The largest size of the cell's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_peak_bytes: Option<u64>,
    /// Calls from the cell to the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_calls: Option<u64>,
    /// How many requests of the call were denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<u64>,
    /// How many of these were not recorded, because there were too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<u64>,
}

impl Line {
    /// The line as it is written, with its line end.
    pub fn to_json_line(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        ascii_json(&json) + "\n"
    }

    /// Reads a line without its line end.
    pub fn read(text: &[u8]) -> Result<Line, String> {
        if text.len() > MAX_LINE_BYTES {
            return Err(format!("it is longer than {MAX_LINE_BYTES} bytes"));
        }
        let line: Line = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        match line.schema {
            SCHEMA => Ok(line),
            other => Err(format!("its schema is {other}, and this program reads {SCHEMA}")),
        }
    }

    /// Scrubs and truncates every text that untrusted parties can influence.
    pub(super) fn clean_texts(&mut self, scrub: impl Fn(&mut String)) {
        let single = [
            &mut self.asked,
            &mut self.rule,
            &mut self.place,
            &mut self.reason,
            &mut self.address,
            &mut self.error,
            &mut self.request,
            &mut self.traceparent,
            &mut self.client,
        ];
        self.secrets.truncate(MAX_LIST);
        self.env.truncate(MAX_LIST);
        let lists = self.secrets.iter_mut().chain(&mut self.env);
        for text in single.into_iter().flatten().chain(lists).chain([&mut self.skill]) {
            // Scrub before truncating, because a truncated secret would not be found.
            scrub(text);
            clip_text(text);
        }
    }
}

/// Truncates a text to its bound, measured in its escaped form.
fn clip_text(text: &mut String) {
    let mut bytes = 0;
    let over = text.char_indices().find(|(_, c)| {
        bytes += written_bytes(*c);
        bytes > MAX_TEXT_BYTES
    });
    if let Some((at, _)) = over {
        text.truncate(at);
        text.push('…');
    }
}

fn written_bytes(c: char) -> usize {
    match c {
        '"' | '\\' => 2,
        ' '..='~' => 1,
        c => 6 * c.len_utf16(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hostile(text: &str) -> Line {
        let text = Some(text.to_owned());
        let list = || vec![text.clone().unwrap_or_default(); 300];
        let mut line = Line {
            schema: SCHEMA,
            asked: text.clone(),
            rule: text.clone(),
            place: text.clone(),
            reason: text.clone(),
            address: text.clone(),
            error: text.clone(),
            skill: text.clone().unwrap_or_default(),
            secrets: list(),
            ..Line::default()
        };
        line.secrets.iter_mut().for_each(|name| name.truncate(60));
        line.clean_texts(|_| ());
        line
    }

    #[test]
    fn a_line_is_plain_ascii_and_bounded_whatever_is_in_it() {
        for text in ["\u{1b}[31m\r\n\"\\\0\u{7f}\u{9b}\u{202e}é😀", "😀", "\"", "\n", "a"] {
            let line = hostile(&text.repeat(5000));
            let written = line.to_json_line();
            assert!(written.len() <= MAX_LINE_BYTES, "{}", written.len());
            assert!(written.trim_end().bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{written}");
            assert_eq!(written.matches('\n').count(), 1);
            assert_eq!(Line::read(written.trim_end().as_bytes()), Ok(line));
        }
    }

    #[test]
    fn what_is_no_line_is_told_apart() {
        for text in ["", "{}", "null", "{\"schema\":1", "\u{0}", "[1]"] {
            assert!(Line::read(text.as_bytes()).is_err(), "{text}");
        }
        let newer = Line { schema: 2, ..hostile("x") }.to_json_line();
        assert!(Line::read(newer.trim_end().as_bytes()).unwrap_err().contains("schema"));
        let unknown = hostile("x").to_json_line().replace("\"other\"", "\"invented\"");
        assert_eq!(Line::read(unknown.trim_end().as_bytes()).map(|line| line.event), Ok(Event::Other));
    }
}
