//! A script outside of cells: its input is read ahead, and its end comes as one JSON value, with the files that it wrote.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::{Call, Outcome, Raised};
use crate::entry::{Entry, Input, WrittenFile};
use crate::execute::RunResult;

/// The most that is read ahead of standard input.
const MAX_INPUT_BYTES: usize = 16 << 20;
/// How long one look at a stream waits.
const LOOK: Duration = Duration::from_millis(20);

/// What the runner tells of a script's end. A stranger's word, as any result is.
#[derive(Deserialize)]
struct ScriptEnd {
    exit_code: i64,
    files: Vec<(String, String)>,
}

/// Standard input as the runner takes it: all that comes until its end, or until the call's deadline or a cancellation.
pub fn encode_input(call: &Call) -> String {
    let Entry::Script(script) = &call.entry else { return String::new() };
    match &script.stdin {
        Input::Empty => String::new(),
        Input::Bytes(bytes) => STANDARD.encode(bytes),
        Input::Stream(stream) if stream.is_terminal() => String::new(),
        Input::Stream(stream) => {
            let (mut read, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
            let deadline = Instant::now().checked_add(call.limits.deadline);
            while read.len() < MAX_INPUT_BYTES && !call.cancel.is_cancelled() {
                match stream.read(&mut buffer, LOOK) {
                    Ok(None) if deadline.is_none_or(|deadline| Instant::now() < deadline) => {}
                    Ok(Some(count)) if count > 0 => read.extend_from_slice(&buffer[..count.min(buffer.len())]),
                    _ => break,
                }
            }
            read.truncate(MAX_INPUT_BYTES);
            STANDARD.encode(read)
        }
    }
}

/// Takes the exit code and the files out of what the runner handed over.
pub fn take_end(call: &Call, ran: RunResult) -> RunResult {
    let (Entry::Script(_), Outcome::Returned(json)) = (&call.entry, &ran.outcome) else { return ran };
    let Ok(end) = serde_json::from_str::<ScriptEnd>(json.get()) else {
        return RunResult { outcome: Outcome::crash("the runner told nothing of the script's end"), ..ran };
    };
    let decode = |(path, bytes): (String, String)| {
        // What it says has to be a plain path, as a cell's file system would have it.
        let plain = !path.is_empty() && path.split('/').all(|name| !matches!(name, "" | "." | ".."));
        Some(WrittenFile { bytes: STANDARD.decode(bytes).ok().filter(|_| plain)?, path })
    };
    let files = end.files.into_iter().filter_map(decode).collect();
    let outcome = match end.exit_code {
        0 => Outcome::Returned(RawValue::NULL.to_owned()),
        code => {
            let raised = Raised::of_host("SystemExit", format!("the script ended with status {code}"));
            Outcome::Raised(Raised { exit_code: Some(code), ..raised })
        }
    };
    RunResult { outcome, files, ..ran }
}
