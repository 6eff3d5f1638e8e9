//! `skillcell python`: a program in a cell, of which nothing is kept.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::SettingArgs;
use super::printer::Printer;
use super::script_run::ScriptArgs;
use skillcell_host::Host;

/// Run a Python program in a fresh cell: a file, or code as with python3 -c
///
/// Only the file itself is taken into the cell, not its folder. Its working folder is empty but for the program and what --in
/// lays there.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell python -c 'import sys; print(sys.argv)' -- a b
  skillcell python analysis.py --in data.csv --out ./result -- data.csv
  echo 'print(6 * 7)' | skillcell python -

Exit codes: the program's own; 124 a limit was exceeded, 125 usage or host error, 126 refused.")]
pub struct PythonCommand {
    /// The program, or - to read it from standard input
    #[arg(required_unless_present = "code", conflicts_with = "code")]
    file: Option<String>,
    /// Code to run instead of a file
    #[arg(short = 'c', value_name = "CODE")]
    code: Option<String>,
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
        match (&self.code, &self.file) {
            (Some(code), _) => self.run_code(code, args, printer),
            (None, Some(file)) if file == "-" => {
                let mut code = String::new();
                std::io::Read::read_to_string(&mut std::io::Read::take(std::io::stdin(), MAX_BYTES), &mut code)
                    .context("the program can't be read from standard input")?;
                self.run_code(&code, args, printer)
            }
            (None, file) => self.run_file(file.as_deref().unwrap_or_default(), args, printer),
        }
    }

    fn run_code(&self, code: &str, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let find = |host: &Host| host.program(None, code.as_bytes());
        self.run.execute(args, printer, find, |call| call.with_code(code, self.args.clone()))
    }

    fn run_file(&self, file: &str, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let opened = std::fs::File::open(file).with_context(|| format!("`{file}` can't be read"))?;
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(opened, MAX_BYTES), &mut text)
            .with_context(|| format!("`{file}` can't be read"))?;
        let name = std::path::Path::new(file).file_name().and_then(|name| name.to_str());
        let name = name.with_context(|| format!("`{file}` has no name that is text"))?;
        let find = |host: &Host| host.program(Some(name), &text);
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
