//! Grants as flags.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::settings::Overrides;
use skillcell_policy::{ForwardProxy, GrantKind, Grants, Written};

/// What a call may do. Nothing is granted by default.
#[derive(Args)]
#[command(next_help_heading = "Grants")]
pub struct GrantArgs {
    /// Show a folder of this machine to the skill (repeatable); read-only unless it ends in :rw
    #[arg(long, value_name = "HOST:GUEST[:ro|rw]")]
    mount: Vec<String>,
    /// Rewrite strings in the params that are paths in a mounted folder to the skill's paths, and back in the result
    #[arg(long)]
    pub map_paths: bool,
    /// Allow requests, such as 'GET,POST https://api.example.org/v1/*' (repeatable); GET and HEAD if none are named. The
    /// host may be *.example.org, or * for any public one
    #[arg(long, value_name = "RULE")]
    allow_http: Vec<String>,
    /// Where a name or an address leads, as in curl, and the grant of where it leads (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDR[:PORT]")]
    resolve: Vec<String>,
    /// Let the skill use a secret with a host, without seeing it (repeatable). SOURCE is env:VARIABLE, file:PATH or
    /// cmd:COMMAND, which is run without a shell; without one, the variable NAME
    #[arg(long, value_name = "NAME[=SOURCE]@HOST")]
    secret: Vec<String>,
    /// An environment value for the cell (repeatable): NAME takes this process's, NAME=VALUE gives one; it sees no other
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// Modules whose import raises an early ImportError (repeatable, comma-separated); a courtesy, not what keeps a
    /// skill in
    #[arg(long, value_name = "NAME[,NAME…]", value_delimiter = ',')]
    deny_import: Vec<String>,
    /// Modules that the skill's own files may import although a cell has no use for them (repeatable, comma-separated):
    /// ctypes, multiprocessing, subprocess. Without it, a skill that is sure to import one is refused, unless approved
    #[arg(long, value_name = "NAME[,NAME…]", value_delimiter = ',')]
    allow_import: Vec<String>,
    /// Authorities to trust besides the system's, as PEM (repeatable)
    #[arg(long, value_name = "PEM")]
    ca_file: Vec<PathBuf>,
    /// A proxy for all requests, such as http://proxy.example.org:3128; variables like HTTPS_PROXY are not read
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
}

impl GrantArgs {
    /// Adds what these flags say to the settings.
    pub fn add_to(&self, overrides: &mut Overrides) -> anyhow::Result<()> {
        overrides.grants = self.grants_from_flags()?;
        overrides.ca_file = self.ca_file.clone();
        let proxy = self.proxy.as_deref().map(ForwardProxy::parse);
        overrides.proxy = proxy.transpose().context("--proxy makes no sense")?;
        Ok(())
    }

    fn grants_from_flags(&self) -> anyhow::Result<Grants> {
        let mut flags = Grants::default();
        let kinds = [
            (GrantKind::Mount, &self.mount),
            (GrantKind::AllowHttp, &self.allow_http),
            (GrantKind::Resolve, &self.resolve),
            (GrantKind::Secret, &self.secret),
            (GrantKind::Env, &self.env),
            (GrantKind::DenyImport, &self.deny_import),
            (GrantKind::AllowImport, &self.allow_import),
        ];
        for (kind, texts) in kinds {
            for text in texts {
                let what = if kind == GrantKind::DenyImport { "makes no sense" } else { "can't be granted" };
                flags.add(kind, text).with_context(|| format!("{} {what}", kind.flag()))?;
            }
        }
        Ok(flags.written(&Written::Flag))
    }
}
