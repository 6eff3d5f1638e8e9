//! `skillcell completions` and `skillcell man`: made from the definitions of the command line, so they can't be out of date.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::Resettable;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::Cli;
use super::printer::Printer;

const PROGRAM: &str = "skillcell";

/// Print a script that completes commands and flags in your shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  source <(skillcell completions bash)              # in this shell
  skillcell completions bash \\
      > ~/.local/share/bash-completion/completions/skillcell
  skillcell completions zsh > ~/.zfunc/_skillcell   # if your fpath has it
  skillcell completions fish > ~/.config/fish/completions/skillcell.fish")]
pub struct CompletionsCommand {
    /// The shell
    shell: Shell,
}

impl CompletionsCommand {
    pub fn execute(&self, printer: &Printer) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), PROGRAM, &mut script);
        printer.print_bytes(&script);
        Ok(ExitCode::SUCCESS)
    }
}

/// Print a manual page, or write all of them to a folder
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell man run | man -l -
  skillcell man --out ~/.local/share/man/man1")]
pub struct ManCommand {
    /// The page of this command, such as run or cache list [default: of skillcell itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    verbs: Vec<String>,
    /// Write the pages of all commands to this folder, which is made
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl ManCommand {
    pub fn execute(&self, printer: &Printer) -> anyhow::Result<ExitCode> {
        let mut root = Cli::command().disable_help_subcommand(true);
        root.build();
        if let Some(folder) = &self.out {
            write_all(&root, folder)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut command = &root;
        for verb in &self.verbs {
            let below = command.get_subcommands().find(|below| below.get_name() == verb);
            command = below.with_context(|| format!("there is no command `{}`", self.verbs.join(" ")))?;
        }
        let page = render_page(command).context("the page can't be made")?;
        printer.print_bytes(&page);
        Ok(ExitCode::SUCCESS)
    }
}

fn write_all(command: &clap::Command, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("can't make the folder `{}`", folder.display()))?;
    let path = folder.join(format!("{}.1", page_name(command)));
    let written = render_page(command).and_then(|page| fs::File::create(&path)?.write_all(&page));
    written.with_context(|| format!("can't write `{}`", path.display()))?;
    command.get_subcommands().try_for_each(|below| write_all(below, folder))
}

fn render_page(command: &clap::Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let source = format!("{PROGRAM} {}", env!("CARGO_PKG_VERSION"));
    // clap_mangen would refill the examples' lines, so they are rendered separately below.
    let man = Man::new(command.clone().after_help(Resettable::Reset)).title(page_name(command)).source(source);
    man.render(&mut page)?;
    if let Some(text) = command.get_after_help() {
        page.extend(examples_section(&text.to_string()).into_bytes());
    }
    Ok(page)
}

/// The examples as a no-fill section, so that they can be copied line by line.
fn examples_section(text: &str) -> String {
    let mut made = String::from(".SH EXAMPLES\n.nf\n");
    for line in text.lines().filter(|line| *line != "Examples:") {
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        // roff takes a line that begins with a dot for a request; `\&` prevents that.
        made.push_str(if line.starts_with('.') { "\\&" } else { "" });
        made.push_str(&line);
        made.push('\n');
    }
    made + ".fi\n"
}

/// `skillcell-cache-list`.
fn page_name(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or(PROGRAM).to_owned()
}
