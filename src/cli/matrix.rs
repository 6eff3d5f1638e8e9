//! `skillcell matrix`: a registry's skills, studied.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::printer::{Printer, escape_unprintable};
use super::{SettingArgs, progress};
use skillcell_study::matrix::{
    Cases, Expectations, Matrix, NativeRuns, Source, Study, fill_in, render_document, render_page, run_study,
};

/// Study a registry: which skills run in cells, what stops the others, and what that is based on
///
/// Of a folder with a SKILL.md each script is a row: its verdict, what it lacks and starts, and --help if it has a command
/// line; --subprocess makes the same run in the tier of that name, and compares code, output and files.
///
/// For each skill: the static analysis and its verdict, its own tests in cells and natively side by side, recorded calls
/// made again in cells, its image and the latency of its calls, and which of its packages Pyodide has. Nothing is granted to
/// skills in cells. Writes matrix.json, matrix.md and matrix.html to a folder, and a summary to stdout.
///
/// The native tests run a skill's code and its packages on this machine, outside of any cell. For the pinned registry,
/// whose bytes are known by hash, that is the default; for any other folder it has to be asked for with
/// --trust-remote-code, and should be only for skills that you would run by hand. Where bubblewrap is there, native runs
/// have no network and none of your files.
///
/// --pyodide runs the tests in Pyodide on Node.js as well, for comparison. That is no sandbox: from inside it, os.system
/// reaches a shell of this machine. It is treated as native runs are: the pinned registry only, unless you say
/// --trust-remote-code, and in bubblewrap where that is there.
#[derive(Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 --check found differences, 2 usage or host error.

Examples:
  skillcell matrix                            # all of the pinned registry
  skillcell matrix --skill 'office/*' --no-native
  skillcell matrix --pyodide --no-native      # in cells and in Pyodide
  skillcell matrix ./my-skills --out report   # any folder of skills
  skillcell matrix ~/.claude/skills --subprocess --out report
  skillcell matrix --check skills-compat/expectations.toml --no-native
  skillcell matrix --from skills-compat/matrix.json \\
      --docs docs/security")]
pub struct MatrixCommand {
    /// A folder of skills [default: the pinned registry]
    registry: Option<PathBuf>,
    /// Only skills whose id matches; * stands for any text (repeatable)
    #[arg(long, value_name = "GLOB")]
    skill: Vec<String>,
    /// Don't run anything outside of cells, but for --pyodide
    #[arg(long)]
    no_native: bool,
    /// Run the tests in Pyodide on Node.js too, which isolates nothing; takes node and npm
    #[arg(long, conflicts_with = "from")]
    pyodide: bool,
    /// Run the code of skills that are not of the pinned registry on this machine, outside of any cell
    #[arg(long)]
    trust_remote_code: bool,
    /// Make each run of a script in the tier subprocess too, and compare: a sandbox of this machine's kernel, and no cell
    #[arg(long, conflicts_with = "from")]
    subprocess: bool,
    /// Don't measure calls
    #[arg(long)]
    no_latency: bool,
    /// More recorded calls: a folder with a cases.json, or such a file (repeatable); with --from, what scripts' runs differ by
    #[arg(long, value_name = "PATH")]
    parity: Vec<PathBuf>,
    /// Skills that are studied at once [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Where to write matrix.json, matrix.md and matrix.html
    #[arg(long, value_name = "DIR", default_value = "skills-compat")]
    out: PathBuf,
    /// Print the matrix as JSON and write no files
    #[arg(long)]
    json: bool,
    /// Compare with expectations, write no files, and end with 1 if anything differs
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "skills-compat/expectations.toml")]
    check: Option<PathBuf>,
    /// Take the results from here instead of studying anything; of a study in parts, from each (repeatable)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["registry", "skill"])]
    from: Vec<PathBuf>,
    /// Make the generated tables of this document anew, or of a folder's documents (repeatable)
    #[arg(long, value_name = "PATH")]
    docs: Vec<PathBuf>,
}

impl MatrixCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let expectations = self.check.as_deref().map(read_expectations).transpose()?;
        self.check_places()?;
        let matrix = match self.read_parts()? {
            Some(mut matrix) => {
                if !self.parity.is_empty() {
                    matrix.take_script_reasons(&self.recorded_cases(Cases::default())?);
                }
                matrix
            }
            None => {
                let line = Arc::new(progress::Terminal::new(args.quiet));
                let host = args.load_settings()?.host_builder_without_approvals().progress(line.clone()).build()?;
                run_study(&host, &self.study_plan()?, &*line)?
            }
        };
        if self.json {
            printer.print_json(&matrix);
        }
        if let Some(expectations) = expectations {
            let differences = expectations.differences(&matrix, self.skill.is_empty());
            for difference in &differences {
                printer.print_error(difference);
            }
            return Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        if !self.json {
            self.write_documents(&matrix, printer)?;
            print_summary(&matrix, printer);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The matrices that were given, as one.
    fn read_parts(&self) -> anyhow::Result<Option<Matrix>> {
        let mut whole: Option<Matrix> = None;
        for path in &self.from {
            let text = read_text(path)?;
            let part = serde_json::from_str(&text).with_context(|| format!("`{}` is no matrix", path.display()))?;
            whole = Some(match whole {
                Some(whole) => whole.join(part),
                None => part,
            });
        }
        Ok(whole)
    }

    /// Checks inputs and outputs before a study that takes minutes.
    fn check_places(&self) -> anyhow::Result<()> {
        if let Some(folder) = &self.registry {
            std::fs::read_dir(folder).with_context(|| format!("can't read the folder `{}`", folder.display()))?;
        }
        if !self.json && self.check.is_none() {
            std::fs::create_dir_all(&self.out).with_context(|| format!("can't make `{}`", self.out.display()))?;
            markdown_files(&self.docs)?.iter().try_for_each(|path| read_text(path).map(drop))?;
        }
        Ok(())
    }

    /// These recorded calls, and those that were named.
    fn recorded_cases(&self, cases: Cases) -> anyhow::Result<Cases> {
        let read = |cases: Cases, path: &PathBuf| Ok(cases.join(Cases::read(path).map_err(anyhow::Error::msg)?));
        self.parity.iter().try_fold(cases, read)
    }

    fn study_plan(&self) -> anyhow::Result<Study> {
        let mut plan = Study::default();
        if let Some(folder) = &self.registry {
            plan.source = Source::Folder(folder.clone());
            plan.cases = Cases::default();
        }
        plan.cases = self.recorded_cases(plan.cases)?;
        // The pinned registry is known by hash; other skills run natively only if the operator says so.
        let trusted = if self.registry.is_none() || self.trust_remote_code {
            NativeRuns::Allowed
        } else {
            NativeRuns::Skipped(
                "not run: these skills are not of the pinned registry, and running them outside of cells needs \
                 --trust-remote-code"
                    .to_owned(),
            )
        };
        if self.pyodide {
            plan.pyodide = trusted.clone();
        }
        plan.native = if self.no_native { NativeRuns::Skipped("not run: --no-native".to_owned()) } else { trusted };
        plan.skills = self.skill.clone();
        plan.latency = !self.no_latency;
        plan.subprocess = self.subprocess;
        plan.jobs = self.jobs.unwrap_or(plan.jobs).max(1);
        Ok(plan)
    }

    fn write_documents(&self, matrix: &Matrix, printer: &Printer) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(matrix)? + "\n";
        for (name, text) in
            [("matrix.json", json), ("matrix.md", render_document(matrix)), ("matrix.html", render_page(matrix))]
        {
            write_text(&self.out.join(name), &text)?;
        }
        for path in markdown_files(&self.docs)? {
            let text = read_text(&path)?;
            let filled = fill_in(&text, matrix).map_err(anyhow::Error::msg)?;
            if filled != text {
                write_text(&path, &filled)?;
            }
        }
        printer.print_note(&format!("wrote {}", self.out.join("matrix.{json,md,html}").display()));
        Ok(())
    }
}

/// The files among these, and the Markdown files of the folders among them.
fn markdown_files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        for entry in std::fs::read_dir(path).with_context(|| format!("can't read `{}`", path.display()))? {
            let file = entry.with_context(|| format!("can't read `{}`", path.display()))?.path();
            if file.extension().is_some_and(|end| end == "md") {
                found.push(file);
            }
        }
    }
    Ok(found)
}

fn read_text(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("can't read `{}`", path.display()))
}

fn write_text(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("can't write `{}`", path.display()))
}

fn read_expectations(path: &Path) -> anyhow::Result<Expectations> {
    Expectations::parse(&read_text(path)?).map_err(|why| anyhow::anyhow!("`{}`: {why}", path.display()))
}

fn print_summary(matrix: &Matrix, printer: &Printer) {
    let rows: Vec<Vec<String>> = matrix
        .skills
        .iter()
        .map(|row| {
            let count = |suite: &skillcell_study::matrix::Suite| {
                suite.counts().map_or_else(
                    || "-".to_owned(),
                    |counts| format!("{}/{}", counts.passed, counts.total() - counts.skipped),
                )
            };
            let figures = matrix.figures.skills.get(&row.id);
            let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |ms| ms.to_string());
            vec![
                row.id.clone(),
                row.verdict.clone().unwrap_or_else(|| "unknown".to_owned()),
                row.tier_in_words().to_owned(),
                count(&row.tests.cells),
                count(&row.tests.native),
                count(&row.tests.pyodide),
                if row.parity.cases == 0 {
                    "-".to_owned()
                } else {
                    format!("{}/{}", row.parity.same, row.parity.cases)
                },
                ms(figures.and_then(|figures| figures.cell_warm_ms)),
                ms(figures.and_then(|figures| figures.native_process_ms)),
            ]
        })
        .collect();
    printer.print_table(
        &["skill", "verdict", "best tier", "in cells", "natively", "in Pyodide", "alike", "cell ms", "process ms"],
        &rows,
    );
    print_scripts(matrix, printer);
    let verdicts: Vec<String> =
        matrix.totals.verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    printer.print_line(&format!("{} skills: {}", matrix.totals.skills, verdicts.join(", ")));
    if let Some(counts) = &matrix.totals.tests_in_pyodide {
        printer.print_line(&format!(
            "{} tests pass in {}, {} don't",
            counts.passed,
            matrix.pyodide,
            counts.failed + counts.errors
        ));
    }
    if let (Some(cells), Some(native)) = (matrix.totals.pass_natively_and_in_cells, matrix.totals.pass_natively) {
        printer.print_line(&format!("{cells} of the {native} tests that pass natively pass in cells"));
    } else if let Some(counts) = &matrix.totals.tests_in_cells {
        printer.print_line(&format!("{} tests pass in cells, {} don't", counts.passed, counts.failed + counts.errors));
    }
}

/// Scripts of folders with a `SKILL.md`, summed up; those whose runs differ by name.
fn print_scripts(matrix: &Matrix, printer: &Printer) {
    let Some(totals) = &matrix.totals.scripts else { return };
    for row in &matrix.skills {
        for script in &row.scripts {
            let runs = script.usage.iter().chain(&script.runs).filter(|run| run.same == Some(false));
            for run in runs {
                let why = if run.reason.is_empty() { &run.difference } else { &run.reason };
                let told = format!("`{}` {} {}: {} {why}", row.id, script.script, run.case, run.cell);
                printer.print_warning(&escape_unprintable(&told));
            }
        }
    }
    printer.print_line(&format!(
        "{} scripts of {} skills; {} have a command line, and a cell can import {} of these: {} of {} compared behave the same \
         under --help",
        totals.scripts, totals.skills, totals.with_usage, totals.capable, totals.usage_same, totals.usage_compared
    ));
    if totals.runs_compared > 0 {
        printer.print_line(&format!("{} of {} recorded runs are the same", totals.runs_same, totals.runs_compared));
    }
}
