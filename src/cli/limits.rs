//! The limits as flags.

use std::time::Duration;

use clap::Args;

use super::input;
use skillcell_limits::Limits;

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
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        set(&mut limits.deadline, self.timeout);
        set(&mut limits.memory_bytes, self.memory);
        set(&mut limits.stdout_bytes, self.max_stdout);
        set(&mut limits.stderr_bytes, self.max_stderr);
        set(&mut limits.result_bytes, self.max_result);
        set(&mut limits.open_files, self.max_open_files);
        set(&mut limits.scratch_bytes, self.max_scratch);
        set(&mut limits.scratch_files, self.max_scratch_files);
        set(&mut limits.host_calls, self.max_host_calls);
        set(&mut limits.inflated_bytes, self.max_inflated);
        limits.fuel = self.fuel;
        limits
    }
}

fn set<T>(limit: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *limit = given;
    }
}
