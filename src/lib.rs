//! skillcell runs a Python *skill* without trusting it: every call gets a *cell*, a fresh CPython inside WebAssembly that
//! is restored from the skill's own memory image and can touch only what it was granted. One call, one cell.
//!
//! # Find a skill and call it
//!
//! A [`Host`] holds the compiled runtime and the images of skills. Make one, keep it, call it from any thread; clones
//! share everything. A skill is a folder with a `skill.py`, or an id of the pinned registry.
//!
//! ```no_run
//! use serde_json::json;
//! use skillcell::{Call, Host, Outcome};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = Host::builder().build()?;
//! let skill = host.skill("optimization/prompt_rewriter")?;
//! let report = host.call(&skill, &Call::new(json!({"raw_text": "Could you please help"})))?;
//! # Ok(())
//! # }
//! ```
//!
//! The first call on a machine fetches the runtime with pip and compiles it, which takes a minute or two; see
//! [`HostBuilder::progress`]. The first call of a skill bakes its image, which takes a second. After that a call takes
//! less than a millisecond, and what the skill does.
//!
//! # Read the outcome
//!
//! What a skill does is an [`Outcome`]; a [`HostError`] is what the host itself can't do. [`Report::envelope`] is all of
//! it as JSON.
//!
//! ```no_run
//! use skillcell::{Outcome, Report};
//!
//! fn show(report: &Report) {
//!     match &report.outcome {
//!         Outcome::Returned(json) => println!("{json}"),
//!         Outcome::Raised(raised) => eprintln!("{}: {}\n{}", raised.kind, raised.message, raised.traceback),
//!         Outcome::Exceeded(limit, _) => eprintln!("it went over a limit: {limit}"),
//!         Outcome::Refused => {} // The denials below say why.
//!         other => eprintln!("{}", other.name()),
//!     }
//!     for denial in &report.denials {
//!         eprintln!("denied: {}\nhint: {}", denial.message, denial.hint.as_deref().unwrap_or("none"));
//!     }
//! }
//! ```
//!
//! # Grant something
//!
//! A cell has no files, network, environment or secrets of this machine. Each is granted for one call, in the words of
//! the flags of `skillcell run`; a skill whose manifest has `permissions` gets no more than it asks for there. Of a
//! secret the skill sees a placeholder, and the host puts the value into requests to the host that is named with it.
//!
//! ```no_run
//! use skillcell::{Call, GrantKind};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut call = Call::default();
//! call.grants.add(GrantKind::AllowHttp, "GET https://api.example.org/v1/*")?;
//! call.grants.add(GrantKind::Secret, "API_KEY=file:/run/secrets/api_key@api.example.org")?;
//! call.grants.add(GrantKind::Mount, "/srv/inbox:/data")?; // Read-only; `:rw` at its end is for writing too.
//! # Ok(())
//! # }
//! ```
//!
//! # Limit it
//!
//! Every call has [`Limits`], whether or not it sets them.
//!
//! ```no_run
//! # use skillcell::Call;
//! # let mut call = Call::default();
//! call.limits.deadline = std::time::Duration::from_secs(2);
//! call.limits.memory_bytes = 128 << 20;
//! ```
//!
//! # Plan before running
//!
//! [`Host::plan`] decides as [`Host::call`] would, and runs nothing of the skill: which [`Tier`], which grants hold, what
//! has to be prepared, or why the call would be refused.
//!
//! ```no_run
//! # use skillcell::{Call, Host};
//! use skillcell::Decision;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (host, call) = (Host::builder().build()?, Call::default());
//! # let skill = host.skill("optimization/prompt_rewriter")?;
//! match host.plan(&skill, &call)? {
//!     Decision::Planned(plan) => plan.describe().iter().for_each(|line| println!("{line}")),
//!     Decision::Refused(refused) => refused.denials.iter().for_each(|denial| println!("{}", denial.message)),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Run a script
//!
//! A folder with a `SKILL.md` has scripts instead of a `skill.py`. A call runs one as `python3 scripts/x.py` would; its exit
//! code, output and files are in the [`Report`]. [`Host::program`] is for code that belongs to no skill.
//!
//! ```no_run
//! # use skillcell::{Call, Host, Input, Skill};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let host = Host::builder().build()?;
//! let skill = Skill::from_any_folder("./my-skill".as_ref())?;
//! let mut call = Call::script("scripts/convert.py", ["--format".to_owned(), "json".to_owned()]);
//! if let Some(script) = call.script_mut() {
//!     script.stdin = Input::Bytes(b"a,b\n".as_slice().into());
//! }
//! let report = host.call(&skill, &call)?;
//! println!("{:?}: {} files", report.exit_code, report.files.len());
//! # Ok(())
//! # }
//! ```
//!
//! # Cancel
//!
//! A [`CancelToken`] ends the calls that carry it, from any thread. Their outcome is [`Outcome::Cancelled`].
//!
//! ```no_run
//! # use skillcell::{Call, Host};
//! use skillcell::CancelToken;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (host, mut call) = (Host::builder().build()?, Call::default());
//! # let skill = host.skill("optimization/prompt_rewriter")?;
//! let token = CancelToken::new();
//! call.cancel = token.clone();
//! std::thread::spawn(move || token.cancel()); // When a client goes away, say.
//! let report = host.call(&skill, &call)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Keep a cell
//!
//! A skill that holds state on its instance can have one cell across calls: the [`Session`] that they carry.
//!
//! ```no_run
//! # use skillcell::{Call, Host};
//! use skillcell::{Session, SessionLimits};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (host, mut call) = (Host::builder().build()?, Call::default());
//! # let skill = host.skill("monitoring/token_limiter")?;
//! call.session = Some(Session::new(SessionLimits::default()));
//! host.call(&skill, &call)?; // Makes the cell.
//! host.call(&skill, &call)?; // Goes on in it.
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go next
//!
//! - `examples/` in the repository: these steps as programs that run.
//! - [`Call`], [`HostBuilder`] and [`Limits`] list their defaults; [`GrantKind`] is all that can be granted.
//! - [`Approvals`]: grants by an operator's consent to the exact content of a skill. [`AuditLog`]: a line for each decision.
//! - [`Host::test`]: a skill's own tests, in cells. Whether it will run in one is `skillcell inspect`'s to say.
//! - `docs/` in the repository: every grant, limit, tier and field of the JSON, and the threat model. `ARCHITECTURE.md`:
//!   how a call goes through the modules below, and where to change what.

#![deny(missing_docs)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

pub use skillcell_settings as settings;

pub use skillcell_cache::progress::Progress;
pub use skillcell_cell::image::WarmUp;
pub use skillcell_door::audit::{AuditError, AuditLog};
pub use skillcell_host::approvals::{Approval, ApprovalError, Approvals};
pub use skillcell_host::call::{Call, Report};
pub use skillcell_host::entry::{Entry, Input, InputStream, Script, WrittenFile};
pub use skillcell_host::plan::{Decision, Plan, Refused};
pub use skillcell_host::testing::{TestCall, TestReport};
pub use skillcell_host::written::{WriteOutError, write_files};
pub use skillcell_host::{Host, HostBuilder, HostError, SandboxChoice, Session, SessionEnd, SessionLimits};
pub use skillcell_limits::cancel::CancelToken;
pub use skillcell_limits::outcome::{Note, NoteKind, Outcome, Raised, Usage};
pub use skillcell_limits::{LimitKind, Limits, RuntimeKind};
pub use skillcell_packages::skill::{Roots, Skill};
pub use skillcell_policy::{BadGrant, Choice, Denial, DenialKind, GrantKind, Grants, Tier};
