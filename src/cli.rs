//! The command line: one file per verb, one printer. stdout is data, stderr is for people.
//!
//! Exit codes: 0 the skill returned, 1 it raised, 2 usage or host error, 3 refused, 4 a limit.

mod approve;
mod audit;
mod bench;
mod build;
mod cache;
mod compare;
mod completions;
mod doctor;
mod grants;
mod harmless;
mod input;
mod inspect;
mod layout;
mod limits;
mod list;
mod lock;
mod matrix;
mod new;
mod origin;
mod printer;
mod progress;
mod run;
mod runtime;
mod test;
#[cfg(test)]
mod tests;
mod wrapped;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};

use crate::approvals::{ApprovalError, Approvals};
use crate::host::{Host, HostBuilder, HostError};
use crate::policy::ForwardProxy;
use printer::Printer;

/// Run Python skills without trusting them: each call in a fresh CPython inside WebAssembly.
///
/// A skill is a folder with a `skill.py`, a path or an id such as `optimization/prompt_rewriter`. Ids are looked up
/// in SKILLWARE_SKILL_PATH, in ./skills, then in the pinned Skillware registry. A cell has no files but the skill's
/// own, no network and no secrets unless you grant them, and no processes.
#[derive(Parser)]
#[command(name = "skillcell", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  skillcell doctor
  skillcell run optimization/prompt_rewriter \\
      --params '{\"raw_text\": \"Could you please help\"}'
  skillcell new ./my_skill && skillcell test ./my_skill
  skillcell list

Exit codes: 0 returned, 1 raised, 2 usage or host error, 3 refused, 4 a limit was exceeded.")]
struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunCommand),
    List(list::ListCommand),
    New(new::NewCommand),
    Build(build::BuildCommand),
    Test(test::TestCommand),
    Approve(approve::ApproveCommand),
    Inspect(inspect::InspectCommand),
    Lock(lock::LockCommand),
    Audit(audit::AuditCommand),
    Bench(bench::BenchCommand),
    Matrix(matrix::MatrixCommand),
    Compare(compare::CompareCommand),
    Runtime(runtime::RuntimeCommand),
    Cache(cache::CacheCommand),
    Doctor(doctor::DoctorCommand),
    Completions(completions::CompletionsCommand),
    Man(completions::ManCommand),
}

/// What every verb takes.
#[derive(Args)]
#[command(next_help_heading = "Settings")]
struct Settings {
    /// Where compiled code and images are kept
    ///
    /// [default: the platform's cache folder, ~/.cache/skillcell on Linux]. Only its owner may be able to write to it.
    #[arg(long, global = true, env = "SKILLCELL_CACHE_DIR", value_name = "DIR")]
    cache_dir: Option<PathBuf>,
    /// Where approvals are kept
    ///
    /// [default: the platform's data folder, ~/.local/share/skillcell on Linux]. Only its owner may be able to write
    /// to it.
    #[arg(long, global = true, env = "SKILLCELL_APPROVALS_DIR", value_name = "DIR")]
    approvals_dir: Option<PathBuf>,
    /// What images may take on disk; a bake removes those not used for longest [default: 10G]
    #[arg(long, global = true, env = "SKILLCELL_MAX_IMAGES", value_name = "SIZE", value_parser = input::size)]
    max_images: Option<u64>,
    /// Never use the network: what is not in the cache must be given with --from-wheel
    #[arg(long, global = true)]
    offline: bool,
    /// A wheel, or a folder of wheels, to take instead of downloading (repeatable)
    #[arg(long, global = true, value_name = "PATH")]
    from_wheel: Vec<PathBuf>,
    /// Say nothing about progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

impl Settings {
    fn host(&self) -> Result<Host, HostError> {
        self.host_with(&[], None)
    }

    /// A host whose HTTP trusts these authorities too, and goes through a proxy if there is one.
    fn host_with(&self, ca_files: &[PathBuf], proxy: Option<ForwardProxy>) -> Result<Host, HostError> {
        let mut builder =
            self.builder(Arc::new(progress::Terminal::new(self.quiet))).ca_files(ca_files.iter().cloned());
        if let Some(proxy) = proxy {
            builder = builder.forward_proxy(proxy);
        }
        // Where there is no place for approvals there are none.
        match self.approvals() {
            Ok(approvals) => builder = builder.approvals(approvals),
            Err(ApprovalError::NoPlace) => {}
            Err(error) => return Err(error.into()),
        }
        builder.build()
    }

    /// A host that knows no approvals, and tells this line what it does.
    fn host_without_approvals(&self, line: Arc<progress::Terminal>) -> Result<Host, HostError> {
        self.builder(line).build()
    }

    fn builder(&self, line: Arc<progress::Terminal>) -> HostBuilder {
        let mut builder = Host::builder().offline(self.offline).wheels(self.from_wheel.clone()).progress(line);
        if let Some(bytes) = self.max_images {
            builder = builder.max_image_bytes(bytes);
        }
        if let Some(folder) = &self.cache_dir {
            builder = builder.cache_dir(folder);
        }
        if let Some(image) = std::env::var("SKILLCELL_CONTAINER_BASE").ok().filter(|image| !image.is_empty()) {
            builder = builder.container_base(image);
        }
        let network = std::env::var_os("SKILLCELL_CONTAINER_BUILD_NETWORK").is_some_and(|value| value == "1");
        builder.allow_build_network(network)
    }

    fn approvals(&self) -> Result<Approvals, ApprovalError> {
        Approvals::locate(self.approvals_dir.as_deref())
    }
}

/// Parses the command line, does what it says, and tells how it went.
pub fn main() -> ExitCode {
    let Cli { settings, command } = Cli::parse();
    let printer = Printer::new();
    let done = match command {
        Command::Run(command) => command.execute(&settings, &printer),
        Command::List(command) => command.execute(&settings, &printer),
        Command::New(command) => command.execute(&settings, &printer),
        Command::Build(command) => command.execute(&settings, &printer),
        Command::Test(command) => command.execute(&settings, &printer),
        Command::Approve(command) => command.execute(&settings, &printer),
        Command::Inspect(command) => command.execute(&settings, &printer),
        Command::Lock(command) => command.execute(&settings, &printer),
        Command::Audit(command) => command.execute(&printer),
        Command::Bench(command) => command.execute(&settings, &printer),
        Command::Matrix(command) => command.execute(&settings, &printer),
        Command::Compare(command) => command.execute(&settings, &printer),
        Command::Runtime(command) => command.execute(&settings, &printer),
        Command::Cache(command) => command.execute(&settings, &printer),
        Command::Doctor(command) => command.execute(&settings, &printer),
        Command::Completions(command) => command.execute(&printer),
        Command::Man(command) => command.execute(&printer),
    };
    let code = done.unwrap_or_else(|error| {
        printer.error(&error);
        ExitCode::from(2)
    });
    if printer.lost() {
        printer.problem("what was to be printed could not be written to stdout");
        return ExitCode::from(2);
    }
    code
}
