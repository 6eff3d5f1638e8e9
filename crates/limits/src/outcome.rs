//! How a call ended. A Python exception, a refusal and a limit are outcomes; errors are for what the host can't do.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::LimitKind;

/// The kind of [`Outcome::crash`].
const CRASH: &str = "CellCrash";

/// How a call ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Outcome {
    /// `execute` returned this JSON.
    Returned(Box<RawValue>),
    /// The skill raised, or its result is not JSON.
    Raised(Raised),
    /// Policy said no; the report's denials say why.
    Refused,
    /// Whoever made the call ended it.
    Cancelled,
    /// No place for another cell came free within the call's deadline. Nothing ran: it may be made again.
    Busy,
    /// A limit ended the call. Where the skill saw an exception for it, that is here too.
    Exceeded(LimitKind, Option<Raised>),
}

impl Outcome {
    /// In a few words, for people.
    pub fn describe(&self) -> String {
        match self {
            Outcome::Raised(raised) => format!("{}: {}", raised.kind, raised.message),
            Outcome::Exceeded(limit, _) => format!("it went over a limit: {limit}"),
            _ => self.name().to_owned(),
        }
    }

    /// The interpreter, or what runs it, failed in a way that no skill raises.
    pub fn crash(message: impl Into<String>) -> Outcome {
        Outcome::Raised(Raised::of_host(CRASH, message))
    }

    /// What `execute` returned.
    pub fn result(&self) -> Option<&RawValue> {
        match self {
            Outcome::Returned(json) => Some(json),
            _ => None,
        }
    }

    /// The exception that the call ended with, or that a limit showed itself as.
    pub fn raised(&self) -> Option<&Raised> {
        match self {
            Outcome::Raised(raised) => Some(raised),
            Outcome::Exceeded(_, raised) => raised.as_ref(),
            Outcome::Returned(_) | Outcome::Refused | Outcome::Cancelled | Outcome::Busy => None,
        }
    }

    /// See [`Outcome::raised`].
    pub fn raised_mut(&mut self) -> Option<&mut Raised> {
        match self {
            Outcome::Raised(raised) => Some(raised),
            Outcome::Exceeded(_, raised) => raised.as_mut(),
            Outcome::Returned(_) | Outcome::Refused | Outcome::Cancelled | Outcome::Busy => None,
        }
    }

    /// The limit that ended the call.
    pub fn limit(&self) -> Option<LimitKind> {
        match self {
            Outcome::Exceeded(limit, _) => Some(*limit),
            _ => None,
        }
    }

    /// The name in the JSON contract.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Returned(_) => "returned",
            Outcome::Raised(_) => "raised",
            Outcome::Refused => "refused",
            Outcome::Cancelled => "cancelled",
            Outcome::Busy => "busy",
            Outcome::Exceeded(..) => "exceeded",
        }
    }
}

/// An exception, as the skill's author would see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Raised {
    /// The class, with its module unless it is built in.
    #[serde(rename = "type")]
    pub kind: String,
    /// `str()` of the exception, at most 64 KiB. The skill's own word: it may say anything.
    pub message: String,
    /// With the skill's own file names and lines; empty when Python did not raise it.
    pub traceback: String,
    /// The status that a script ended with; none if it is a skill's `execute` that raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The number of an `OSError`.
    #[serde(default, skip_serializing)]
    pub errno: Option<i64>,
    /// The module that could not be imported, if it is an `ImportError` or comes of one.
    #[serde(default, skip_serializing)]
    pub module: Option<String>,
    /// What the host knows of that, if it is for want of a package.
    #[serde(skip)]
    pub missing: Option<MissingModule>,
    /// Whether it is a `MemoryError`, of whatever class.
    #[serde(default, skip_serializing)]
    pub out_of_memory: bool,
}

impl Raised {
    /// Whether the interpreter failed, and no skill raised this: see [`Outcome::crash`].
    pub fn is_crash(&self) -> bool {
        self.kind == CRASH && self.traceback.is_empty()
    }

    /// An exception that was not raised by Python.
    pub fn of_host(kind: &str, message: impl Into<String>) -> Raised {
        let (kind, message) = (kind.to_owned(), message.into());
        Raised {
            kind,
            message,
            traceback: String::new(),
            exit_code: None,
            errno: None,
            module: None,
            missing: None,
            out_of_memory: false,
        }
    }
}

/// A module that a skill could not be imported without. That it is so is the skill's word, and no more of that is taken
/// than a plain name; what is said of its package is the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingModule {
    /// What `import` could not find; a plain name, fit to be shown.
    pub module: String,
    /// What became of its package; nothing where no package is known to have it.
    pub why: Option<String>,
}

/// What one call used.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// From accepting the call to its end, tear-down included.
    pub wall: Duration,
    /// Making the cell.
    pub setup: Duration,
    /// Running in it.
    pub guest: Duration,
    /// Throwing it away.
    pub teardown: Duration,
    /// The largest size of the cell's memory.
    pub memory_peak_bytes: u64,
    /// Calls from the cell to the host.
    pub host_calls: u64,
    /// Fuel burnt, when it was limited.
    pub fuel: Option<u64>,
}

/// Something that a caller should know: a result that may differ from native Python's, a secret that was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Note {
    /// What sort of note it is; a caller can have a kind left out of reports.
    pub kind: NoteKind,
    /// What it is about: a package, a secret's name.
    pub subject: String,
    /// What to know and what to do about it, in words.
    pub message: String,
}

impl Note {
    /// A note about `subject`, which says `message`.
    pub fn new(kind: NoteKind, subject: impl Into<String>, message: impl Into<String>) -> Note {
        Note { kind, subject: subject.into(), message: message.into() }
    }
}

/// What a [`Note`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoteKind {
    /// numpy's default integer has 32 bits in a cell.
    IntegerWidth,
    /// A stand-in answered for a native package.
    StandIn,
    /// A secret's placeholder went out as it is.
    SecretNotUsed,
    /// A limit was reached while the skill's image was made, before the call.
    Bake,
    /// What packages a script requires is a guess, by its imports.
    GuessedPackages,
    /// The call waited for code of the runtime to be compiled.
    Parts,
    /// A package's wheel is for an older platform than the runtime's.
    OlderWheel,
}

impl NoteKind {
    /// The name in the JSON contract.
    pub fn name(self) -> &'static str {
        match self {
            NoteKind::IntegerWidth => "integer_width",
            NoteKind::StandIn => "stand_in",
            NoteKind::SecretNotUsed => "secret_not_used",
            NoteKind::Bake => "bake",
            NoteKind::GuessedPackages => "guessed_packages",
            NoteKind::Parts => "parts",
            NoteKind::OlderWheel => "older_wheel",
        }
    }
}

impl std::str::FromStr for NoteKind {
    type Err = String;

    fn from_str(text: &str) -> Result<NoteKind, String> {
        let all = [
            NoteKind::IntegerWidth,
            NoteKind::StandIn,
            NoteKind::SecretNotUsed,
            NoteKind::Bake,
            NoteKind::GuessedPackages,
            NoteKind::Parts,
            NoteKind::OlderWheel,
        ];
        let known = all.into_iter().find(|kind| kind.name() == text);
        known.ok_or_else(|| format!("it is one of {}", all.map(NoteKind::name).join(", ")))
    }
}
