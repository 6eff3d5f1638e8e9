//! The limits as flags.

use std::time::Duration;

use clap::Args;

use super::input;
use crate::settings::LimitOverrides;

#[derive(Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Wall-clock time of the call: seconds, or 500ms, 2m [default: 30]
    #[arg(long, value_name = "TIME", value_parser = input::time)]
    timeout: Option<Duration>,
    /// Memory of the cell, the image included [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    memory: Option<u64>,
    /// What the skill may write to stdout [default: 1M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    max_stdout: Option<u64>,
    /// What the skill may write to stderr [default: 1M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    max_stderr: Option<u64>,
    /// The result as JSON [default: 16M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    max_result: Option<u64>,
    /// Files open at once [default: 64]
    #[arg(long, value_name = "N")]
    max_open_files: Option<u32>,
    /// Bytes in /tmp and the home folder [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    max_scratch: Option<u64>,
    /// Files and folders in /tmp and the home folder [default: 4096]
    #[arg(long, value_name = "N")]
    max_scratch_files: Option<u32>,
    /// Calls from the cell to the host [default: 1000000]
    #[arg(long, value_name = "N")]
    max_host_calls: Option<u64>,
    /// What a compressed HTTP answer may become when it is decompressed [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = input::size)]
    max_inflated: Option<u64>,
    /// Count instructions and stop at N; compiles the runtime a second time on first use [default: off]
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
}

impl LimitArgs {
    /// These flags as overrides of the policy file and the environment.
    pub fn overrides(&self) -> LimitOverrides {
        let mut limits = LimitOverrides::default();
        limits.timeout = self.timeout;
        limits.memory = self.memory;
        limits.max_stdout = self.max_stdout;
        limits.max_stderr = self.max_stderr;
        limits.max_result = self.max_result;
        limits.max_open_files = self.max_open_files;
        limits.max_scratch = self.max_scratch;
        limits.max_scratch_files = self.max_scratch_files;
        limits.max_host_calls = self.max_host_calls;
        limits.max_inflated = self.max_inflated;
        limits.fuel = self.fuel;
        limits
    }
}
