//! A call and what comes of it: the contract that every tier and every way in shares.
//!
//! A Python exception, a refusal and a limit are outcomes. Errors are for what the host itself can't do.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::entry::{Entry, FileEnvelope, WrittenFile};
pub use crate::following::{OnOutput, PrintedTo};
use crate::session::Session;
use skillcell_door::audit::AuditLog;
use skillcell_limits::cancel::CancelToken;
pub use skillcell_limits::outcome::{Note, NoteKind, Outcome, Raised, Usage};
use skillcell_limits::{LimitKind, Limits, RuntimeKind};
use skillcell_policy::{Choice, Denial, Grants, Tier, TierRules};

/// What a skill is asked to do.
///
/// Defaults: `{}` as params, no config, no environment, no grants, no audit, paths as they are, the default [`Limits`],
/// imports that are of no use in a cell refused, params validated, image used, the strongest tier that will do, no session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Call {
    /// What of the skill it enters: `execute`, or a script.
    pub entry: Entry,
    /// What `execute` gets, for looking at, and as it was written if it was: a number in it may be longer, or a key
    /// odder, than what it was read into.
    params: Value,
    text: Option<Box<str>>,
    /// What the skill's constructor gets as `config`.
    pub config: Option<Value>,
    /// Rewrite params' strings that are paths in a mounted folder of the host to the cell's paths, and the result's
    /// back; `map_paths.rs` has the rule. It grants nothing.
    pub map_paths: bool,
    /// The secrets that it holds; their placeholders are in `env`.
    pub secrets: Vec<String>,
    /// Environment values, by name. The cell sees these and a few fixed ones, never the host's.
    pub env: BTreeMap<String, String>,
    /// What the skill may do, as far as it asks for it; a skill without `permissions` may do all of it.
    pub grants: Grants,
    /// What of `grants`, and of what was approved, the call keeps at most: what a client of a server may use. All of it if it
    /// is not set.
    pub at_most: Option<Arc<Grants>>,
    /// Where the call's decisions are recorded; nowhere unless it is set. A call that can't be recorded is not made.
    pub audit: AuditLog,
    /// What it may use: time, memory, output, files.
    pub limits: Limits,
    /// Ends the call from outside.
    pub cancel: CancelToken,
    /// Call a skill in a cell though its files are sure to import what no cell has a use for (`subprocess`, say). Without
    /// it such a skill is refused, unless it is approved or [`Grants::allow_imports`] has the module. An early word, not
    /// what keeps a skill in.
    pub allow_any_import: bool,
    /// Check `params` against the manifest's JSON Schema first, as Skillware's `SkillContext` does.
    pub validate: bool,
    /// Start from the skill's image. Without it, the call boots Python and imports the skill itself: slow, but nothing
    /// that the skill drew from randomness while it was imported is shared between calls.
    pub use_image: bool,
    /// Where to execute it.
    pub tier: Choice,
    /// Which tiers it may be executed in.
    pub tiers: TierRules,
    /// Let a skill that nobody vouches for run without isolation, if `tier` asks for that.
    pub trust_remote_code: bool,
    /// Kinds of notes that the caller knows about, and that the report leaves out.
    pub acknowledge: Vec<NoteKind>,
    /// Told of what a cell prints while it runs; the report has all of it at the end. Other tiers tell nothing earlier.
    pub on_output: Option<OnOutput>,
    /// Make it in the cell that the last call with this session left, and leave that for the next one. Without it the cell
    /// is fresh, and gone after the call.
    pub session: Option<Session>,
}

impl Call {
    /// A call with these params, which have to be what the manifest's JSON Schema asks for; all else as by default.
    pub fn new(params: Value) -> Call {
        Call {
            entry: Entry::Execute,
            params,
            text: None,
            config: None,
            map_paths: false,
            secrets: Vec::new(),
            env: BTreeMap::new(),
            grants: Grants::default(),
            at_most: None,
            audit: AuditLog::default(),
            limits: Limits::default(),
            cancel: CancelToken::default(),
            allow_any_import: false,
            validate: true,
            use_image: true,
            tier: Choice::Auto,
            tiers: TierRules::default(),
            trust_remote_code: false,
            acknowledge: Vec::new(),
            on_output: None,
            session: None,
        }
    }
}

impl Call {
    /// A call whose params are JSON text; the cell gets them as they are written.
    pub fn from_json(text: &str) -> Result<Call, serde_json::Error> {
        let params = serde_json::from_str(text)?;
        Ok(Call { text: Some(text.into()), ..Call::new(params) })
    }

    /// The same call with other params, as JSON text.
    pub fn with_params(self, text: &str) -> Result<Call, serde_json::Error> {
        Ok(Call { params: serde_json::from_str(text)?, text: Some(text.into()), ..self })
    }

    /// The same call with another entry, and the params that it takes.
    pub(crate) fn entering(self, entry: Entry, params: Value) -> Call {
        Call { entry, params, text: None, allow_any_import: true, ..self }
    }

    /// What `execute` gets.
    pub fn params(&self) -> &Value {
        &self.params
    }

    /// The same as text: as it was written, if the call was made from text.
    pub fn params_json(&self) -> Cow<'_, str> {
        self.text.as_deref().map_or_else(|| Cow::Owned(self.params.to_string()), Cow::Borrowed)
    }
}

/// Which image served a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageUse {
    /// The image's name in the cache: a digest of all that it was made of.
    pub key: String,
    /// Whether it had to be made for this call.
    pub baked: bool,
}

/// Everything there is to tell about one call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// The skill's id: `category/name`, or the folder's name.
    pub skill: String,
    /// How it ended, with the result or the exception.
    pub outcome: Outcome,
    /// What policy refused: before the call, or while it ran.
    pub denials: Vec<Denial>,
    /// What was granted and did not hold, since the manifest's `permissions` don't ask for it; as it was written.
    pub unused_grants: Vec<String>,
    /// What the skill wrote to descriptor 1, up to its limit; any bytes, without secrets' values.
    pub stdout: Vec<u8>,
    /// The same of descriptor 2.
    pub stderr: Vec<u8>,
    /// The status that a script ended with; none if the call ran none, or it did not come to its end.
    pub exit_code: Option<u8>,
    /// The files that a script made or changed in its folder, by path; within the limits of scratch space.
    pub files: Vec<WrittenFile>,
    /// Time, memory and host calls; all but `wall` is 0 if no cell was made.
    pub usage: Usage,
    /// The image that the cell was restored from; none if the call imported the skill itself.
    pub image: Option<ImageUse>,
    /// Where it was executed, or would have been.
    pub tier: Tier,
    /// Why there, where that needed deciding.
    pub tier_reason: Option<String>,
    /// The runtime of the cell that it was executed in; none if it was not a cell.
    pub runtime: Option<RuntimeKind>,
    /// Why that one, where it needed deciding.
    pub runtime_reason: Option<String>,
    /// What the caller should know of the result or of the call, and that is no error.
    pub notes: Vec<Note>,
}

impl Report {
    /// A report with nothing in it but how the call of this skill ended.
    pub fn new(skill: impl Into<String>, outcome: Outcome) -> Report {
        Report {
            skill: skill.into(),
            outcome,
            denials: Vec::new(),
            unused_grants: Vec::new(),
            stdout: Vec::new(),
            stderr: Vec::new(),
            exit_code: None,
            files: Vec::new(),
            usage: Usage::default(),
            image: None,
            tier: Tier::Wasm,
            tier_reason: None,
            runtime: None,
            runtime_reason: None,
            notes: Vec::new(),
        }
    }

    /// The JSON contract, version 1; docs/reference/json-contract.md describes it. The result is passed on as the cell
    /// gave it, however deeply it nests.
    pub fn envelope(&self) -> impl Serialize {
        self.envelope_with_files(0)
    }

    /// The same with the content of the files that a script wrote, as base64, as long as it is no more than so many bytes
    /// in all.
    pub fn envelope_with_files(&self, most_bytes: usize) -> impl Serialize {
        let mut room = most_bytes;
        Envelope {
            schema: 1,
            skill: &self.skill,
            tier: self.tier,
            tier_reason: self.tier_reason.as_deref(),
            runtime: self.runtime,
            runtime_reason: self.runtime_reason.as_deref(),
            outcome: self.outcome.name(),
            result: self.outcome.result(),
            error: self.outcome.raised(),
            limit: self.outcome.limit(),
            exit_code: self.exit_code,
            files: self.files.iter().map(|file| FileEnvelope::new(file, &mut room)).collect(),
            denials: &self.denials,
            stdout: String::from_utf8_lossy(&self.stdout),
            stderr: String::from_utf8_lossy(&self.stderr),
            usage: UsageEnvelope::new(&self.usage),
            image: self.image.as_ref(),
            notes: &self.notes,
        }
    }
}

#[derive(Serialize)]
struct Envelope<'a> {
    schema: u32,
    skill: &'a str,
    tier: Tier,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<RuntimeKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime_reason: Option<&'a str>,
    outcome: &'static str,
    result: Option<&'a RawValue>,
    error: Option<&'a Raised>,
    limit: Option<LimitKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileEnvelope<'a>>,
    denials: &'a [Denial],
    stdout: Cow<'a, str>,
    stderr: Cow<'a, str>,
    usage: UsageEnvelope,
    image: Option<&'a ImageUse>,
    notes: &'a [Note],
}

/// What a call used, as the envelope has it: [`Usage`] with times in milliseconds.
#[derive(Serialize, Deserialize)]
pub struct UsageEnvelope {
    /// From accepting the call to its end.
    pub wall_ms: f64,
    /// Making the cell.
    pub setup_ms: f64,
    /// Running in it.
    pub guest_ms: f64,
    /// Throwing it away.
    pub teardown_ms: f64,
    /// The largest size of the cell's memory.
    pub memory_peak_bytes: u64,
    /// Calls from the cell to the host.
    pub host_calls: u64,
    /// Fuel burnt, when it was limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
}

impl UsageEnvelope {
    /// The same in the units of the envelope.
    pub fn new(usage: &Usage) -> UsageEnvelope {
        let ms = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        UsageEnvelope {
            wall_ms: ms(usage.wall),
            setup_ms: ms(usage.setup),
            guest_ms: ms(usage.guest),
            teardown_ms: ms(usage.teardown),
            memory_peak_bytes: usage.memory_peak_bytes,
            host_calls: usage.host_calls,
            fuel: usage.fuel,
        }
    }
}

impl Default for Call {
    fn default() -> Call {
        Call::new(Value::Object(serde_json::Map::new()))
    }
}
