//! Test events that a cell reports, frame by frame. They are untrusted: malformed frames are refused, texts are
//! truncated, and the door bounds the total size.

use serde::Deserialize;

use super::test_result::{Failure, FileError, TestOutcome, TestResult};

/// The most tests of one file.
const MAX_TESTS: usize = 50_000;
/// The longest frame; parsing needs several times that much memory.
const MAX_FRAME: usize = 1 << 20;
/// The longest text in an event.
const MAX_TEXT: usize = 16 << 10;

/// The events received so far.
#[derive(Debug, Default)]
pub struct Events {
    /// The total size of the frames so far.
    pub bytes: u64,
    pub collected: Vec<String>,
    /// The test that was started and has not finished.
    pub running: Option<String>,
    pub finished: Vec<TestResult>,
    pub broken: Vec<FileError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Event {
    Collected(Vec<String>),
    Started(String),
    Finished(Finished),
    Broken(Broken),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finished {
    id: String,
    outcome: TestEvent,
    ms: f64,
    error: Option<Cause>,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Broken {
    id: String,
    error: Cause,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    #[serde(rename = "type")]
    kind: String,
    message: String,
    line: Option<String>,
}

/// The outcomes that a cell can report; the host determines the others.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TestEvent {
    Passed,
    Failed,
    Error,
    Skipped,
    Xfailed,
    Xpassed,
}

impl Events {
    /// Takes one frame; `None` if it is malformed or exceeds a limit.
    pub fn take_frame(&mut self, frame: &[u8]) -> Option<()> {
        self.bytes += frame.len() as u64;
        (frame.len() <= MAX_FRAME).then_some(())?;
        match serde_json::from_slice(frame).ok()? {
            Event::Collected(ids) => {
                (ids.len() + self.collected.len() <= MAX_TESTS).then_some(())?;
                self.collected.extend(ids.into_iter().map(cut_text));
            }
            Event::Started(id) => self.running = Some(cut_text(id)),
            Event::Finished(told) => {
                (self.finished.len() < MAX_TESTS).then_some(())?;
                self.running = None;
                self.finished.push(told.into());
            }
            Event::Broken(told) => {
                (self.broken.len() < MAX_TESTS).then_some(())?;
                self.broken.push(FileError { id: cut_text(told.id), error: told.error.into() });
            }
        }
        Some(())
    }

    /// Applies `change` to every text.
    pub fn map_texts(&mut self, change: impl Fn(&mut String)) {
        self.collected.iter_mut().chain(&mut self.running).for_each(&change);
        let failure = |failure: &mut Failure| {
            [&mut failure.kind, &mut failure.message].into_iter().chain(&mut failure.line).for_each(&change);
        };
        for test in &mut self.finished {
            change(&mut test.id);
            test.reason.iter_mut().for_each(&change);
            test.error.iter_mut().for_each(failure);
        }
        for broken in &mut self.broken {
            change(&mut broken.id);
            failure(&mut broken.error);
        }
    }
}

impl From<Finished> for TestResult {
    fn from(told: Finished) -> TestResult {
        TestResult {
            id: cut_text(told.id),
            outcome: match told.outcome {
                TestEvent::Passed => TestOutcome::Passed,
                TestEvent::Failed => TestOutcome::Failed,
                TestEvent::Error => TestOutcome::Error,
                TestEvent::Skipped => TestOutcome::Skipped,
                TestEvent::Xfailed => TestOutcome::Xfailed,
                TestEvent::Xpassed => TestOutcome::Xpassed,
            },
            ms: if told.ms.is_finite() && told.ms >= 0.0 { (told.ms * 1e3).round() / 1e3 } else { 0.0 },
            error: told.error.map(Failure::from),
            reason: told.reason.map(cut_text),
        }
    }
}

impl From<Cause> for Failure {
    fn from(cause: Cause) -> Failure {
        Failure { kind: cut_text(cause.kind), message: cut_text(cause.message), line: cause.line.map(cut_text) }
    }
}

fn cut_text(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_event_is_refused_and_changes_nothing() {
        let mut events = Events::default();
        for frame in [
            "",
            "null",
            "[]",
            "{}",
            r#"{"surprise": 1}"#,
            r#"{"started": 3}"#,
            r#"{"finished": {"id": "a", "outcome": "not_run", "ms": 1}}"#,
            r#"{"finished": {"id": "a", "outcome": "passed", "ms": 1, "more": 1}}"#,
            r#"{"started": "a", "collected": []}"#,
        ] {
            assert!(events.take_frame(frame.as_bytes()).is_none(), "{frame}");
        }
        assert!(events.finished.is_empty() && events.collected.is_empty() && events.running.is_none());
    }

    #[test]
    fn text_is_cut_and_odd_times_are_none() {
        let mut events = Events::default();
        let id = "é".repeat(MAX_TEXT);
        let frame = format!(r#"{{"finished": {{"id": "{id}", "outcome": "passed", "ms": -1e300}}}}"#);
        events.take_frame(frame.as_bytes()).unwrap();
        assert!(events.finished[0].id.len() <= MAX_TEXT && events.finished[0].ms == 0.0);
    }
}
