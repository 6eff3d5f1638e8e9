//! `skillcell bench`: a skill's calls beside the alternatives.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::limits::LimitArgs;
use super::origin::find_skill;
use super::printer::{Printer, format_bytes};
use super::{SettingArgs, bench_recorded, input, progress};
use crate::settings::Settings;
use skillcell_host::Host;
use skillcell_host::call::Call;
use skillcell_packages::skill::Skill;
use skillcell_policy::{Choice, Tier};
use skillcell_study::bench::{Figures, Plan, Series, run_bench, time_calls};
use skillcell_study::matrix::{Cases, measure_recorded_calls};

/// Measure a skill: a fresh cell per call, a cell without image, and fresh Python processes, interleaved
///
/// cell: a fresh cell from the skill's image, params and result as JSON, tear-down included. cell_no_image: Python
/// booted and the skill imported in the call. python_skill: a python3 process that loads the skill with the real
/// Skillware and calls it once. python_pass: `python3 -I -S -c pass`, the leanest Python start there is.
///
/// The Python processes run the skill on this machine, outside of any sandbox. For the pinned registry, whose bytes are
/// known by hash, that is the default; for any other skill those series stay empty unless you say --trust-remote-code.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell bench optimization/prompt_rewriter \\
      --params '{\"raw_text\": \"Could you please help\"}'
  skillcell bench ./my_skill --calls 5000 --threads 4 --json
  skillcell bench ./pdf-tools --script scripts/extract.py -- --help
  skillcell bench --recorded   # the registry's calls beside a running Python")]
pub struct BenchCommand {
    /// A folder with a skill.py, or an id
    #[arg(required_unless_present = "recorded")]
    skill: Option<String>,
    /// Instead of one skill: the recorded calls of the pinned registry that succeed, each in fresh cells and in a Python that
    /// made it before
    #[arg(long, conflicts_with_all = ["skill", "params", "calls", "threads", "no_validate", "trust_remote_code"])]
    recorded: bool,
    /// With --recorded, more recorded calls: a folder with a cases.json, or such a file (repeatable)
    #[arg(long, value_name = "PATH", requires = "recorded")]
    parity: Vec<PathBuf>,
    /// With --recorded, only skills whose id matches; * stands for any text (repeatable)
    #[arg(long, value_name = "GLOB", requires = "recorded")]
    only: Vec<String>,
    /// Instead of a call of execute(), a run of this script of the folder, with the arguments after --: only in fresh cells
    #[arg(long, value_name = "PATH", conflicts_with_all = ["recorded", "params", "threads", "trust_remote_code"])]
    script: Option<String>,
    /// What execute() gets: JSON, @FILE, or - for standard input
    #[arg(long, short, value_name = "JSON|@FILE|-", default_value = "{}")]
    params: String,
    /// Calls in fresh cells
    #[arg(long, value_name = "N", default_value_t = 1000)]
    calls: usize,
    /// Threads for the second throughput figure [default: the number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Run a skill that is not of the pinned registry in Python processes too, with all that you may do
    #[arg(long)]
    trust_remote_code: bool,
    /// Don't check the params against the manifest
    #[arg(long)]
    no_validate: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// With --script, what the script gets as its arguments
    #[arg(last = true, value_name = "ARGS", requires = "script")]
    args: Vec<String>,
}

impl BenchCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let Some(skill) = &self.skill else { return self.measure_recorded(args, printer) };
        let mut call = Call::from_json(&input::json_text(&self.params, "--params")?)?;
        let mut overrides = args.overrides();
        overrides.limits = self.limits.overrides();
        let settings = Settings::load(overrides)?;
        let host = args.build_host(&settings)?;
        call.limits = settings.limits;
        if let Some(path) = &self.script {
            call.tier = Choice::Tier(Tier::Wasm);
            let skill = super::script::find_folder(&host, skill)?;
            return self.measure_script(&host, &skill, &call.with_script(path, self.args.clone()), printer);
        }
        let skill = find_skill(&host, skill, args.quiet, printer)?;
        call.allow_any_import = true;
        call.validate = !self.no_validate;
        // This measures cells only, whatever other tiers the machine has; `compare` measures tiers.
        call.tier = Choice::Tier(Tier::Wasm);
        let mut plan = Plan::default();
        plan.calls = self.calls.max(1);
        plan.threads = self.threads.unwrap_or(plan.threads).max(1);
        plan.trust_remote_code = self.trust_remote_code;
        let line = progress::Terminal::new(args.quiet || self.json);
        let figures = run_bench(&host, &skill, &call, &plan, &line)?;
        drop((line, host));
        if self.json {
            printer.print_json(&figures.to_json());
        } else {
            print_figures(&figures, printer);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn measure_script(&self, host: &Host, skill: &Skill, call: &Call, printer: &Printer) -> anyhow::Result<ExitCode> {
        let cell = time_calls(host, skill, call, self.calls.max(1))?;
        if self.json {
            printer.print_json(&cell.to_json());
        } else {
            printer.print_table(&SERIES_COLUMNS[..5], &[series_row(&cell)]);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn measure_recorded(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let mut cases = Cases::pinned();
        for path in &self.parity {
            cases = cases.join(Cases::read(path).map_err(anyhow::Error::msg)?);
        }
        let line = Arc::new(progress::Terminal::new(args.quiet));
        let host = args.load_settings()?.host_builder_without_approvals().progress(line.clone()).build()?;
        let skills = measure_recorded_calls(&host, &cases, &self.only, &*line)?;
        drop((line, host));
        if self.json {
            printer.print_json(&skills);
        } else {
            bench_recorded::print_table(&skills, printer);
        }
        Ok(ExitCode::SUCCESS)
    }
}

const SERIES_COLUMNS: [&str; 6] = ["", "p50 ms", "p90 ms", "p99 ms", "calls", "p50 to cell"];

fn series_row(series: &Series) -> Vec<String> {
    let time = |percent| series.percentile_ms(percent).map_or_else(|| "-".to_owned(), |ms| format!("{ms:.3}"));
    vec![series.name.to_owned(), time(50), time(90), time(99), series.count().to_string()]
}

fn print_figures(figures: &Figures, printer: &Printer) {
    let cell = figures.series.first().and_then(|series| series.percentile_ms(50)).unwrap_or(f64::NAN);
    let rows: Vec<Vec<String>> = figures
        .series
        .iter()
        .map(|series| {
            let times = series.percentile_ms(50).map_or_else(|| "-".to_owned(), |ms| format!("{:.1}×", ms / cell));
            series_row(series).into_iter().chain([times]).collect()
        })
        .collect();
    printer.print_table(&SERIES_COLUMNS, &rows);
    let [setup, guest, teardown] = figures.parts.map(|part| part.as_secs_f64() * 1e3);
    printer.print_line(&format!("a cell's p50: set-up {setup:.3} ms, guest {guest:.3} ms, tear-down {teardown:.3} ms"));
    for (threads, rate) in &figures.throughput {
        printer.print_line(&format!("{rate:.0} calls/s on {threads} thread{}", if *threads == 1 { "" } else { "s" }));
    }
    printer.print_line(&format!(
        "{:.0} page faults per call, {} per live cell, {} resident",
        figures.faults_per_call,
        format_bytes(figures.bytes_per_live_cell as u64),
        format_bytes(figures.resident_bytes)
    ));
    for missing in &figures.missing {
        printer.print_warning(missing);
    }
}
