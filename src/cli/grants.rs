//! Grants as flags, and from a policy file.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::policy::{GrantKind, Grants, PolicyFile};

/// What a call may do. Nothing is granted by default.
#[derive(Args)]
#[command(next_help_heading = "Grants")]
pub struct GrantArgs {
    /// Show a folder of this machine to the skill (repeatable); read-only unless it ends in :rw
    #[arg(long, value_name = "HOST:GUEST[:ro|rw]")]
    mount: Vec<String>,
    /// Allow requests, such as 'GET,POST https://api.example.org/v1/*' (repeatable); GET and HEAD if none are named. The
    /// host may be *.example.org, or * for any public one
    #[arg(long, value_name = "RULE")]
    allow_http: Vec<String>,
    /// Where a name or an address leads, as in curl, and the grant of where it leads (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDR[:PORT]")]
    resolve: Vec<String>,
    /// Let the skill use a secret with a host, without seeing it (repeatable)
    #[arg(long, value_name = "NAME[=SOURCE]@HOST")]
    secret: Vec<String>,
    /// Authorities to trust besides the well-known ones, as PEM (repeatable)
    #[arg(long, value_name = "PEM")]
    pub ca_file: Vec<PathBuf>,
    /// A policy file, such as skillcell.toml; none is looked for
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

impl GrantArgs {
    /// The policy file's grants for this skill, then the flags'.
    pub fn grants(&self, skill: &str) -> anyhow::Result<Grants> {
        let mut flags = Grants::default();
        let kinds = [
            (GrantKind::Mount, &self.mount),
            (GrantKind::AllowHttp, &self.allow_http),
            (GrantKind::Resolve, &self.resolve),
            (GrantKind::Secret, &self.secret),
        ];
        for (kind, texts) in kinds {
            for text in texts {
                flags.add(kind, text).with_context(|| format!("{} can't be granted", kind.flag()))?;
            }
        }
        let Some(path) = &self.policy else { return Ok(flags) };
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("the policy file `{shown}` can't be read"))?;
        let file = PolicyFile::parse(&text).with_context(|| format!("the policy file `{shown}` is wrong"))?;
        Ok(file.grants_for(skill).merged_with(flags))
    }
}
