//! What a half must give, and whether it did. What is not said must not be there: output, denials.

use regex::Regex;
use serde::Deserialize;

use crate::stage::Words;
use crate::tier::Seen;

#[derive(Deserialize, Clone, Default, PartialEq, Debug)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// The result, exactly.
    pub returned: Option<toml::Value>,
    /// An expression for the whole of the result as compact JSON.
    pub returned_like: Option<String>,
    /// The exception's type. With `exceeded`, the exception that came with the limit.
    pub raised: Option<String>,
    pub message: Option<String>,
    pub message_like: Option<String>,
    pub traceback_like: Option<String>,
    /// The limit.
    pub exceeded: Option<String>,
    pub refused: bool,
    /// The flag of each denial, or `kind: asked` where none would help. In this order.
    pub denials: Vec<String>,
    /// The same as expressions, where one has something random in it.
    pub denials_like: Vec<String>,
    pub stdout: Option<String>,
    pub stdout_like: Option<String>,
    pub stderr: Option<String>,
    pub stderr_like: Option<String>,
    /// The program's exit code and what it says itself on stderr, where it makes no call at all.
    pub exit: Option<i32>,
    pub says_like: Option<String>,
}

impl Expect {
    pub fn says_something(&self) -> bool {
        self.returned.is_some()
            || self.returned_like.is_some()
            || self.raised.is_some()
            || self.exceeded.is_some()
            || self.refused
            || self.exit.is_some()
    }

    /// What is not as expected, in words.
    pub fn compare(&self, seen: &Seen, words: &Words) -> Vec<String> {
        let mut wrong = Vec::new();
        let outcome = match self {
            Expect { exit: Some(_), .. } => "none",
            Expect { exceeded: Some(_), .. } => "exceeded",
            Expect { refused: true, .. } => "refused",
            Expect { raised: Some(_), .. } => "raised",
            _ => "returned",
        };
        note(&mut wrong, "outcome", &Some(outcome.to_owned()), Some(&seen.outcome));
        note(
            &mut wrong,
            "exit code",
            &self.exit.map(|code| code.to_string()),
            seen.exit.map(|c| c.to_string()).as_ref(),
        );
        note(&mut wrong, "limit", &self.exceeded, seen.limit.as_ref());
        note(&mut wrong, "exception", &self.raised, seen.raised.as_ref());
        let plain = |text: &Option<String>| text.as_deref().map(|text| words.fill(text));
        if self.raised.is_some() {
            text(&mut wrong, "message", plain(&self.message), &self.message_like, &seen.message, words);
        }
        if self.traceback_like.is_some() {
            text(&mut wrong, "traceback", None, &self.traceback_like, &seen.traceback, words);
        }
        if let Some(result) = &self.returned {
            let wanted = words.json(result);
            let came: Option<serde_json::Value> = serde_json::from_str(&seen.result).ok();
            if came.as_ref() != Some(&wanted) {
                wrong.push(format!("result: expected {wanted}, came {}", brief(&seen.result)));
            }
        }
        if self.returned_like.is_some() {
            text(&mut wrong, "result", None, &self.returned_like, &seen.result, words);
        }
        if self.says_like.is_some() {
            text(&mut wrong, "the program says", None, &self.says_like, &seen.says, words);
        }
        text(&mut wrong, "stdout", plain(&self.stdout), &self.stdout_like, &seen.stdout, words);
        text(&mut wrong, "stderr", plain(&self.stderr), &self.stderr_like, &seen.stderr, words);
        if !self.denials_like.is_empty() {
            let like = self.denials_like.join("\n");
            text(&mut wrong, "denials", None, &Some(like), &seen.denials.join("\n"), words);
        }
        let denials: Vec<String> = self.denials.iter().map(|denial| words.fill(denial)).collect();
        if self.denials_like.is_empty() && denials != seen.denials {
            wrong.push(format!("denials: expected {denials:?}, came {:?}", seen.denials));
        }
        if !wrong.is_empty() {
            wrong.push(format!("it gave {}", seen.brief()));
        }
        wrong
    }
}

fn note(wrong: &mut Vec<String>, what: &str, wanted: &Option<String>, came: Option<&String>) {
    if wanted.as_ref() != came {
        wrong.push(format!("{what}: expected {wanted:?}, came {came:?}"));
    }
}

fn text(wrong: &mut Vec<String>, what: &str, exact: Option<String>, like: &Option<String>, came: &str, words: &Words) {
    if let Some(like) = like {
        let pattern = format!("(?s)^(?:{})$", words.fill_pattern(like));
        match Regex::new(&pattern) {
            Ok(regex) if regex.is_match(came) => {}
            Ok(_) => wrong.push(format!("{what}: expected like {pattern}, came {:?}", brief(came))),
            Err(error) => wrong.push(format!("{what}: the expression is wrong: {error}")),
        }
        return;
    }
    let wanted = exact.unwrap_or_default();
    if wanted != came {
        wrong.push(format!("{what}: expected {:?}, came {:?}", brief(&wanted), brief(came)));
    }
}

pub fn brief(text: &str) -> String {
    let cut: String = text.chars().take(600).collect();
    if cut.len() < text.len() { format!("{cut}… ({} bytes)", text.len()) } else { cut }
}
