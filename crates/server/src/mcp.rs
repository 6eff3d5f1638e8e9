//! The MCP server: each skill is a tool, its instructions and card are resources and a prompt. Folders in the Agent Skills format
//! share one tool that runs their scripts, and are served as the Skills extension has it.
//!
//! ```text
//!   stdio ─┐                ┌─▶ tools/list, resources, prompts ─▶ shelf: what is shown of each skill
//!   HTTP ──┴─▶ handler ─────┤                                       ▲ host's reading, then the guest's
//!                           └─▶ tools/call ─▶ Service::call ─▶ answer: content, or what a model can act on
//! ```
//!
//! Both eras of the protocol are `rmcp`'s to speak: 2026-07-28 without sessions, and 2025-11-25 and before. A client asks for
//! calls. What they may do is the operator's: nothing that a client sends is a grant, a limit or an approval.

mod agent_skill;
mod answer;
mod asked;
mod cancelling;
mod entry;
mod handler;
mod held;
mod http;
mod lines;
mod names;
mod prepare;
mod preview;
mod progress;
mod resources;
mod run_script;
mod schema;
mod session_tools;
mod shelf;
mod stdio;
mod yaml;

pub(crate) use self::agent_skill::AgentSkill;
pub use self::http::{HttpSettings, http_service};
pub use self::prepare::prepare_skills;
pub use self::preview::Preview;
pub use self::progress::Watched;
pub use self::shelf::Server;
pub use self::stdio::serve_stdio;
