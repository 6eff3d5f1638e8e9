//! `skillcell python`: a program in a cell, of which nothing is kept.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::SettingArgs;
use super::printer::Printer;
use super::prompt;
use super::script_run::{FAILED, ScriptArgs};
use skillcell_host::Host;

/// Run a Python program in a fresh cell: a file, or code as with python3 -c
///
/// Only the file itself is taken into the cell, not its folder. Its working folder is empty but for the program and what --in
/// lays there. With --session, what is typed afterwards runs in the same cell, line by line.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell python -c 'import sys; print(sys.argv)' -- a b
  skillcell python analysis.py --in data.csv --out ./result -- data.csv
  echo 'print(6 * 7)' | skillcell python
  skillcell python --session -c 'import json'   # and then a prompt

Exit codes: the program's own; 124 a limit was exceeded, 125 usage or host error, 126 refused.")]
pub struct PythonCommand {
    /// The program, or - to read it from standard input [default: -, on a terminal --session]
    #[arg(conflicts_with = "code")]
    file: Option<String>,
    /// Code to run instead of a file
    #[arg(short = 'c', value_name = "CODE")]
    code: Option<String>,
    /// Keep the cell, and run in it what is typed at a prompt, or comes on standard input, until its end or `exit()`
    #[arg(long, conflicts_with_all = ["json", "dry_run"])]
    session: bool,
    #[command(flatten)]
    run: ScriptArgs,
    /// What the program gets as its arguments
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

/// The longest program, with room to see that one is longer.
const MAX_BYTES: u64 = (8 << 20) + 1;

impl PythonCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let has_program = self.file.is_some() || self.code.is_some();
        if self.session || !has_program && std::io::stdin().is_terminal() {
            return Ok(ExitCode::from(self.run_session(args, printer).unwrap_or_else(|error| {
                printer.print_error_chain(&error);
                FAILED
            })));
        }
        match (&self.code, self.file.as_deref().unwrap_or("-")) {
            (Some(code), _) => self.run_code(code, args, printer),
            (None, "-") => {
                let mut code = String::new();
                std::io::Read::read_to_string(&mut std::io::Read::take(std::io::stdin(), MAX_BYTES), &mut code)
                    .context("the program can't be read from standard input")?;
                self.run_code(&code, args, printer)
            }
            (None, file) => self.run_file(file, args, printer),
        }
    }

    /// The program first, if there is one; its names are there for what is typed.
    fn run_session(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<u8> {
        let code = match (&self.code, self.file.as_deref()) {
            (Some(code), _) => code.clone(),
            (None, Some("-")) => {
                anyhow::bail!("with --session standard input is what is typed: name a file, or use -c")
            }
            (None, Some(file)) => {
                String::from_utf8(read_program(file)?).with_context(|| format!("`{file}` is not UTF-8"))?
            }
            (None, None) => String::new(),
        };
        let find = |host: &Host| host.program(None, code.as_bytes(), &[]);
        let ready = self.run.prepare(args, find, |call| call.with_code(&code, self.args.clone()))?;
        prompt::run_session(&self.run, ready, printer)
    }

    fn run_code(&self, code: &str, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let find = |host: &Host| host.program(None, code.as_bytes(), &[]);
        self.run.execute(args, printer, find, |call| call.with_code(code, self.args.clone()))
    }

    fn run_file(&self, file: &str, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let text = read_program(file)?;
        let name = std::path::Path::new(file).file_name().and_then(|name| name.to_str());
        let name = name.with_context(|| format!("`{file}` has no name that is text"))?;
        let find = |host: &Host| host.program(Some(name), &text, &[]);
        self.run.execute(args, printer, find, |call| {
            let mut call = call.with_script(name, self.args.clone());
            // The skill has only the program's imports; this is the program.
            if let Some(script) = call.script_mut() {
                script.files.push((name.to_owned(), text.as_slice().into()));
            }
            call
        })
    }
}

fn read_program(file: &str) -> anyhow::Result<Vec<u8>> {
    let unreadable = || format!("`{file}` can't be read");
    let mut text = Vec::new();
    let opened = std::fs::File::open(file).with_context(unreadable)?;
    std::io::Read::read_to_end(&mut std::io::Read::take(opened, MAX_BYTES), &mut text).with_context(unreadable)?;
    Ok(text)
}
