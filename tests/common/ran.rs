//! What a program that calls `skillcell` sees.

use std::process::{Command, Output};

use serde_json::Value;

pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().expect("it exits"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line: {}{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }

    /// This exit code, and these words on stdout or stderr.
    pub fn is(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        let said = format!("{}{}", self.stdout, self.stderr);
        words.iter().for_each(|words| assert!(said.contains(words), "no `{words}` in {said}"));
    }

    /// Exit code 2, nothing on stdout, and an explanation.
    pub fn is_error(&self, words: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        assert!(self.stderr.contains(words) && self.stderr.starts_with("error: "), "{}", self.stderr);
    }
}

pub fn finish(command: &mut Command) -> Ran {
    Ran::of(command.output().expect("it starts"))
}
