//! What every verb that makes one call takes: where it runs, its limits, its grants, its audit.

use clap::Args;

use super::SettingArgs;
use super::audit::AuditArgs;
use super::grants::GrantArgs;
use super::limits::LimitArgs;
use crate::settings::Settings;
use skillcell_host::call::Call;
use skillcell_policy::Choice;

#[derive(Args)]
pub struct CallArgs {
    /// Boot Python and import everything in this call instead of starting from an image
    #[arg(long)]
    no_image: bool,
    /// Where to run it: wasm, container, subprocess or in_process, strongest first
    ///
    /// auto is a cell (wasm); a skill that can't run in one goes to the strongest other tier that this machine has, if it
    /// is bundled or approved. `skillcell doctor` shows the tiers of this machine.
    #[arg(long, value_name = "TIER", default_value = "auto")]
    tier: Choice,
    /// Run it in the strongest tier that will do, whoever wrote it; never without isolation
    #[arg(long, conflicts_with = "tier")]
    isolated: bool,
    /// With --tier in_process: let it read and change your files, use your keys and reach any network
    #[arg(long)]
    trust_remote_code: bool,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    grants: GrantArgs,
    #[command(flatten)]
    pub audit: AuditArgs,
}

impl CallArgs {
    pub fn load_settings(&self, args: &SettingArgs) -> anyhow::Result<Settings> {
        let mut overrides = args.overrides();
        self.grants.add_to(&mut overrides)?;
        overrides.limits = self.limits.overrides();
        overrides.audit = self.audit.audit.clone();
        Ok(Settings::load(overrides)?)
    }

    /// Applies what is no setting but only a flag.
    pub fn apply_to(&self, call: &mut Call) {
        call.audit = self.audit.with_explanation(std::mem::take(&mut call.audit));
        call.map_paths = self.grants.map_paths;
        call.use_image = !self.no_image;
        call.tier = if self.isolated { Choice::Isolated } else { self.tier };
        call.trust_remote_code = self.trust_remote_code;
    }
}
