//! Grants as flags, and from a policy file.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use crate::host::{GrantError, HostError};
use crate::policy::{
    BadPolicyFile, ForwardProxy, GrantKind, Grants, MAX_FILE_BYTES, PolicyFile, SecretSource, TierRules, Written,
};

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
    pub ca_file: Vec<PathBuf>,
    /// A proxy for all requests, such as http://proxy.example.org:3128; variables like HTTPS_PROXY are not read
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// A policy file, such as skillcell.toml; none is looked for
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

/// What was granted, by where it was said.
pub struct Layers {
    pub policy: Grants,
    pub flags: Grants,
}

impl GrantArgs {
    /// The policy file's grants for this skill, then the flags'.
    pub fn grants(&self, skill: &str) -> anyhow::Result<Grants> {
        let Layers { policy, flags } = self.layers(skill)?;
        Ok(policy.merged_with(flags))
    }

    /// Which tiers the policy file allows.
    pub fn tiers(&self) -> anyhow::Result<TierRules> {
        Ok(self.policy_file()?.map(|file| file.tiers().clone()).unwrap_or_default())
    }

    /// The proxy that is named here, else the policy file's.
    pub fn forward_proxy(&self) -> anyhow::Result<Option<ForwardProxy>> {
        match &self.proxy {
            Some(text) => Ok(Some(ForwardProxy::parse(text).context("--proxy makes no sense")?)),
            None => Ok(self.policy_file()?.and_then(|file| file.forward_proxy().cloned())),
        }
    }

    fn policy_file(&self) -> anyhow::Result<Option<PolicyFile>> {
        self.policy.as_deref().map(policy).transpose()
    }

    /// Looks at the flags and at the files and folders that they name, before any work is done for the call.
    pub fn check(&self) -> anyhow::Result<()> {
        self.policy_file()?;
        let flags = self.flags()?;
        for mount in &flags.mounts {
            let meta = std::fs::metadata(&mount.host);
            let is_folder =
                meta.and_then(|meta| if meta.is_dir() { Ok(()) } else { Err(ErrorKind::NotADirectory.into()) });
            is_folder.map_err(|source| HostError::from(GrantError::Mount { folder: mount.host.clone(), source }))?;
        }
        for secret in &flags.secrets {
            if let SecretSource::File(path) = &secret.source {
                let (name, place) = (secret.name.clone(), format!("`{path}`"));
                let failed = |source| GrantError::Secret { name, place, source: Some(source) };
                std::fs::File::open(path).map_err(|source| HostError::from(failed(source)))?;
            }
        }
        Ok(())
    }

    pub fn layers(&self, skill: &str) -> anyhow::Result<Layers> {
        let policy = self.policy_file()?.map(|file| file.grants_for(skill));
        Ok(Layers { policy: policy.unwrap_or_default(), flags: self.flags()? })
    }

    fn flags(&self) -> anyhow::Result<Grants> {
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

fn policy(path: &Path) -> anyhow::Result<PolicyFile> {
    let (shown, mut bytes) = (path.display(), Vec::new());
    // A byte more than a policy file may have: then that is what is wrong with it.
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .with_context(|| format!("the policy file `{shown}` can't be read"))?;
    let text = if bytes.len() > MAX_FILE_BYTES { Err(BadPolicyFile::TooLong.into()) } else { utf8(bytes) };
    let file = text.and_then(|text| Ok(PolicyFile::parse(&text)?));
    let file = file.with_context(|| format!("the policy file `{shown}` is wrong"))?;
    Ok(file.named(&shown.to_string()))
}

fn utf8(bytes: Vec<u8>) -> anyhow::Result<String> {
    Ok(String::from_utf8(bytes)?)
}
