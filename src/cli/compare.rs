//! `skillcell compare`: the same calls in every tier that this machine has.

use std::fs::File;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use super::limits::LimitArgs;
use super::origin::find_skill;
use super::printer::{Printer, format_bytes};
use super::{SettingArgs, input, progress};
use crate::settings::Settings;
use skillcell_host::call::Call;
use skillcell_policy::Tier;
use skillcell_study::bench::Series;
use skillcell_study::compare::{Comparison, Figures, Footprint, Missing, Plan, chart, run_comparison};

/// Compare the tiers: the same calls of a skill in each that this machine has, interleaved in one run
///
/// A tier is where a skill runs: a cell (wasm), a container, or a sandboxed process. Three times are measured. first: the
/// first call, with what had to be made for it and was not there yet. cold: starting this program for one call. warm: a
/// call in a program that has made one before. The results must be equal, and a skill that returns in one tier must not
/// raise in another; if they are not, that is said and the exit code is 1. Asking for a comparison is agreeing that the skill runs in these tiers.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skillcell compare optimization/prompt_rewriter \\
      --params '{\"raw_text\": \"Could you please help\"}'
  skillcell compare ./my_skill --tiers wasm,subprocess --count 8 --json
  skillcell compare --calls skills-compat/compare.json --svg tiers.svg

Exit codes: 0 done, 1 the results differ or a tier gave none, 2 usage or host error.")]
pub struct CompareCommand {
    /// A folder with a skill.py, or an id
    #[arg(required_unless_present = "calls")]
    skill: Option<String>,
    /// What execute() gets: JSON, @FILE, or - for standard input
    #[arg(long, short, value_name = "JSON|@FILE|-", default_value = "{}")]
    params: String,
    /// Compare several: a JSON file with a list of {"skill": …, "params": …}
    #[arg(long, value_name = "FILE", conflicts_with = "skill")]
    calls: Option<PathBuf>,
    /// The tiers to compare [default: wasm, container, subprocess]
    #[arg(long, value_name = "TIER", value_delimiter = ',')]
    tiers: Vec<Tier>,
    /// Calls in each tier but wasm, which gets five times as many
    #[arg(long, value_name = "N", default_value = "20")]
    count: NonZeroUsize,
    /// Don't check the params against the manifest
    #[arg(long)]
    no_validate: bool,
    /// Draw the warm calls into this file, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    /// Print the figures as a Markdown table, as in the docs
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    skill: String,
    params: Value,
}

impl CompareCommand {
    pub fn execute(&self, args: &SettingArgs, printer: &Printer) -> anyhow::Result<ExitCode> {
        let cases = self.read_cases()?;
        let drawing = self.open_drawing()?;
        let mut overrides = args.overrides();
        overrides.limits = self.limits.overrides();
        let settings = Settings::load(overrides)?;
        let host = args.build_host(&settings)?;
        let line = progress::Terminal::new(args.quiet);
        let mut compared = Vec::new();
        for Case { skill: name, params } in cases {
            let skill = find_skill(&host, &name, args.quiet, printer)?;
            let mut call = Call::new(params.clone());
            call.limits = settings.limits.clone();
            // Every tier has to make the call, so none may refuse it for its imports.
            call.allow_any_import = true;
            call.validate = !self.no_validate;
            let plan = self.comparison_plan(&name, &params)?;
            compared.push(run_comparison(&host, &skill, &call, &plan, &line)?);
        }
        drop((line, host));
        if self.json {
            let all: Vec<Value> = compared.iter().map(|(comparison, missing)| comparison.to_json(missing)).collect();
            printer.print_json(&Value::Array(all));
        } else {
            self.print_comparisons(&compared, printer);
        }
        if let Some((path, mut file)) = drawing {
            let groups: Vec<_> = compared.iter().map(|(comparison, _)| comparison.chart_group()).collect();
            let drawn = chart::draw_chart("A warm call in each tier: p50, with a line to p99", &groups);
            let written = file.set_len(0).and_then(|()| file.write_all(drawn.as_bytes()));
            written.with_context(|| format!("can't write `{}`", path.display()))?;
        }
        // After all output, so that the figures are there even if results differ.
        let unequal = compared.iter().any(|(comparison, _)| !comparison.equal);
        Ok(if unequal { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    /// Opens the SVG file before measuring, so that a bad path fails at once and not after minutes. Appending leaves an
    /// older drawing in place until there is a new one.
    fn open_drawing(&self) -> anyhow::Result<Option<(&PathBuf, File)>> {
        let Some(path) = &self.svg else { return Ok(None) };
        let file = File::options().append(true).create(true).open(path);
        Ok(Some((path, file.with_context(|| format!("can't write `{}`", path.display()))?)))
    }

    fn read_cases(&self) -> anyhow::Result<Vec<Case>> {
        match (&self.calls, &self.skill) {
            (Some(path), _) => {
                let text = std::fs::read(path).with_context(|| format!("can't read `{}`", path.display()))?;
                let cases: Vec<Case> = serde_json::from_slice(&text)
                    .with_context(|| format!("`{}` is no list of calls", path.display()))?;
                anyhow::ensure!(!cases.is_empty(), "`{}` has no calls", path.display());
                Ok(cases)
            }
            (None, Some(skill)) => {
                let params = serde_json::from_str(&input::json_text(&self.params, "--params")?)?;
                Ok(vec![Case { skill: skill.clone(), params }])
            }
            (None, None) => Ok(Vec::new()),
        }
    }

    fn comparison_plan(&self, skill: &str, params: &Value) -> anyhow::Result<Plan> {
        let mut plan = Plan::default();
        if !self.tiers.is_empty() {
            plan.tiers.clone_from(&self.tiers);
        }
        plan.calls = self.count.get();
        plan.cell_calls = plan.calls.saturating_mul(5);
        let program = std::env::current_exe().context("can't tell where this program is")?;
        let mut words = vec!["run".to_owned(), skill.to_owned(), "--params".to_owned(), params.to_string()];
        words.push("--quiet".to_owned());
        words.extend(self.no_validate.then(|| "--no-validate".to_owned()));
        plan.cold = Some((program, words));
        Ok(plan)
    }

    fn print_comparisons(&self, compared: &[(Comparison, Vec<Missing>)], printer: &Printer) {
        let headings = [
            "skill",
            "tier",
            "first ms",
            "cold p50 ms",
            "warm p50 ms",
            "p90",
            "p99",
            "memory",
            "disk",
            "disk, shared",
            "downloads",
        ];
        let rows: Vec<Vec<String>> = compared
            .iter()
            .flat_map(|(comparison, _)| comparison.tiers.iter().map(|figures| figures_row(&comparison.skill, figures)))
            .collect();
        if self.markdown {
            printer.print_line(&format!("| {} |", headings.join(" | ")));
            printer.print_line(&format!("|---|---|{}", "---:|".repeat(headings.len() - 2)));
            rows.iter().for_each(|row| printer.print_line(&format!("| {} |", row.join(" | "))));
        } else {
            printer.print_table(&headings, &rows);
        }
        for (comparison, missing) in compared {
            for Missing { tier, why, failed, .. } in missing {
                let what = if *failed { "does not return in" } else { "has no figures for" };
                printer.print_warning(&format!("{} {what} {tier}: {why}", comparison.skill));
            }
            if let Some(differs) = describe_difference(comparison) {
                printer.print_warning(&differs);
            }
        }
    }
}

fn figures_row(skill: &str, figures: &Figures) -> Vec<String> {
    let time = |series: &Series, percent| {
        series.percentile_ms(percent).map_or_else(|| "-".to_owned(), |ms| format!("{ms:.3}"))
    };
    vec![
        skill.to_owned(),
        figures.tier.to_string(),
        format!("{:.0}", figures.first_ms),
        time(&figures.cold, 50),
        time(&figures.warm, 50),
        time(&figures.warm, 90),
        time(&figures.warm, 99),
        figures.memory_bytes.map_or_else(|| "-".to_owned(), format_bytes),
        format_bytes(figures.footprint.own_bytes),
        format_bytes(figures.footprint.shared_bytes),
        describe_downloads(&figures.footprint),
    ]
}

/// What is fetched before the first call of all.
fn describe_downloads(footprint: &Footprint) -> String {
    let (known, others) = footprint.total_downloads();
    let known = (known > 0).then(|| format_bytes(known));
    known.into_iter().chain(others.iter().map(|&what| what.to_owned())).collect::<Vec<_>>().join(" + ")
}

/// How the results differ, of the tiers that gave one.
fn describe_difference(comparison: &Comparison) -> Option<String> {
    let unsteady: Vec<_> = comparison.tiers.iter().filter(|it| !it.steady).map(|it| it.tier.to_string()).collect();
    if !unsteady.is_empty() {
        return Some(format!(
            "{} gives other results from call to call in {}, so its results tell nothing about the tiers",
            comparison.skill,
            unsteady.join(" and ")
        ));
    }
    let same = comparison.tiers.windows(2).all(|pair| pair[0].result == pair[1].result);
    (!same).then(|| format!("{} does not give the same result in every tier", comparison.skill))
}
