//! What calls do that a sandbox changes, by their dotted names. The tables are below, by what they are about.

mod connections;
mod files;
mod processes;
mod services;

use serde::Serialize;

pub use self::services::service;

/// A kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Starts a program or another process.
    Process,
    /// Waits for connections.
    Server,
    /// Speaks something else than HTTP.
    Socket,
    /// Talks to hardware.
    Device,
    /// Makes HTTP requests.
    Http,
    /// Loads native code.
    NativeLibrary,
    Signal,
    Thread,
    /// Runs code that it makes.
    Code,
    /// Asks a person at a terminal.
    Input,
    /// Fetches a model or a data set.
    Download,
    ReadFile,
    WriteFile,
}

impl Effect {
    /// Whether a cell lacks this, whatever is granted.
    pub fn is_lacking(self) -> bool {
        use Effect::*;
        matches!(self, Process | Server | Socket | Device | NativeLibrary | Signal)
    }

    /// What it is, after "it".
    pub fn words(self) -> &'static str {
        match self {
            Effect::Process => "starts a program or process",
            Effect::Server => "waits for connections",
            Effect::Socket => "uses a network protocol that is not HTTP",
            Effect::Device => "talks to hardware",
            Effect::Http => "makes HTTP requests",
            Effect::NativeLibrary => "loads native code",
            Effect::Signal => "sets a timer that a signal ends",
            Effect::Thread => "starts threads",
            Effect::Code => "runs code that it makes",
            Effect::Input => "asks on a terminal",
            Effect::Download => "downloads a model or data set",
            Effect::ReadFile => "reads files",
            Effect::WriteFile => "writes files",
        }
    }
}

/// Calls that do the same. Exact names, or all below one that ends in `.`, or all that begin so where it ends in `*`.
type Names = (Effect, &'static [&'static str]);

/// What a call does, by its name alone.
pub fn of(name: &str) -> Option<Effect> {
    let mut tables = [processes::TABLE, connections::TABLE, files::TABLE].into_iter().flatten();
    let found = tables.find(|(_, names)| names.iter().any(|pattern| matches(pattern, name))).map(|(effect, _)| *effect);
    found.filter(|effect| *effect != Effect::Process || !is_of_result(name))
}

/// Whether this is a method of the table or text that a function gave: `pdf2image.pdfinfo_from_path(…).get(…)`.
fn is_of_result(name: &str) -> bool {
    const METHODS: [&str; 12] = [
        "get",
        "items",
        "keys",
        "values",
        "append",
        "split",
        "splitlines",
        "strip",
        "decode",
        "replace",
        "lower",
        "copy",
    ];
    name.rsplit_once('.').is_some_and(|(before, leaf)| before.contains('.') && METHODS.contains(&leaf))
}

fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_suffix('.')) {
        (Some(start), _) => name.starts_with(start),
        (_, Some(top)) => name.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        _ => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_whole_below_or_by_their_beginning() {
        assert_eq!(of("subprocess.run"), Some(Effect::Process));
        assert_eq!(of("subprocess.list2cmdline"), None);
        assert_eq!(of("paramiko.SSHClient.connect"), Some(Effect::Socket));
        assert_eq!(of("paramikox.SSHClient"), None);
        assert_eq!(of("os.execvp"), Some(Effect::Process));
        assert_eq!(of("pdf2image.pdfinfo_from_path"), Some(Effect::Process));
        assert_eq!(of("pdf2image.pdfinfo_from_path.get"), None, "a method of a table");
        assert_eq!(of("requests.Session.post"), Some(Effect::Http));
    }

    #[test]
    fn a_service_is_found_by_the_module_it_is_below() {
        assert_eq!(service("google.genai.types").map(|found| found.0), Some("google.genai"));
        assert_eq!(service("openai").map(|found| found.0), Some("openai"));
        assert_eq!(service("openaix"), None);
    }
}
