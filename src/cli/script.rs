//! `skillcell script`: a file of a skill's folder, run in a cell in the place of `python3 scripts/x.py …`.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::SettingArgs;
use super::printer::Printer;
use super::script_run::ScriptArgs;
use skillcell_host::{Host, HostError};
use skillcell_packages::skill::Skill;

/// Run a script of an Agent Skills folder (SKILL.md, scripts/) in a fresh cell
///
/// In the place of `python3 scripts/x.py ARGS` in the skill's folder: arguments, standard input, output and exit code are the
/// script's own. The folder is its working folder; it may write there, and what it wrote is gone afterwards, but for --out.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell script ./pdf-tools scripts/extract.py -- --help
  skillcell script ./pdf-tools scripts/extract.py --in report.pdf \\
      --out ./result -- report.pdf --format json
  cat data.csv | skillcell script ./csv scripts/summary.py -- -
  skillcell script ./weather scripts/today.py \\
      --allow-http 'GET https://api.example.org/*' -- Oslo

Exit codes: the script's own; 124 a limit was exceeded, 125 usage or host error, 126 refused.")]
pub struct ScriptCommand {
    /// The skill's folder, or its name in a folder of skills
    skill: String,
    /// The script's path in that folder, such as scripts/convert.py
    script: String,
    #[command(flatten)]
    run: ScriptArgs,
    /// What the script gets as its arguments
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

impl ScriptCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let find = |host: &Host| find_folder(host, &self.skill);
        self.run.execute(args, printer, find, |call| call.with_script(self.path_in_folder(), self.args.clone()))
    }

    /// The script's path in the skill's folder. An absolute path that leads there will do.
    fn path_in_folder(&self) -> String {
        let (folder, script) = (Path::new(&self.skill).canonicalize(), Path::new(&self.script));
        let inner = folder.ok().filter(|_| script.is_absolute()).and_then(|folder| {
            let script = script.canonicalize().ok()?;
            Some(script.strip_prefix(folder).ok()?.to_str()?.to_owned())
        });
        inner.unwrap_or_else(|| self.script.clone())
    }
}

/// Any folder will do; a name that is none is looked up as a skill's.
pub fn find_folder(host: &Host, name: &str) -> Result<Skill, HostError> {
    let path = Path::new(name);
    if path.is_dir() { Ok(Skill::from_any_folder(path)?) } else { host.skill(name) }
}
