//! The analysis for people: the verdict and its reasons first, then what it is made of. Long lists are folded.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value, json};

use crate::cli::printer::{Printer, escape_unprintable};
use skillcell_policy::REFUSED_AT_USE;
use skillcell_study::analysis::{Analysis, BestTier, DefaultInteger, Effect, Finding, Imported, Reason, Verdict};

/// Lines of a list before it is folded.
const SHOWN_LINES: usize = 6;
const GOOD: Style = AnsiColor::Green.on_default().bold();
const MIXED: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const DIM: Style = Style::new().dimmed();

/// Names the other tier that may run it. Only a hint, since it was not tried there.
fn other_tier_hint(tier: BestTier) -> &'static str {
    match tier {
        BestTier::Subprocess => "; the tier `subprocess` has what it requires, but it was not tried there",
        BestTier::Container => "; a `container` whose image has that may do, but it was not tried there",
        _ => "",
    }
}

/// Prints an analysis, all of it if `all`.
pub struct Sections<'a> {
    pub analysis: &'a Analysis,
    pub printer: &'a Printer,
    pub all: bool,
}

impl Sections<'_> {
    /// The verdict, and why.
    pub fn print_verdict(&self) {
        let Analysis { verdict, best_tier, .. } = self.analysis;
        let (style, words) = match verdict {
            Verdict::Runs => (GOOD, ": in a cell, with nothing granted"),
            Verdict::RunsWithGrants => (GOOD, ": in a cell, with what there is to ask for below"),
            Verdict::Partly => (MIXED, ": some of it needs what a cell does not have"),
            _ if *best_tier == BestTier::None => (BAD, ": nor in another isolated tier, as it is"),
            _ => (BAD, ": it needs what a cell does not have"),
        };
        self.print_row("verdict", &format!("{style}{}{style:#}{words}{}", verdict.name(), other_tier_hint(*best_tier)));
        self.print_list("", self.analysis.reasons.iter().map(reason_line));
        if !self.analysis.optional.is_empty() {
            self.print_list("does without", self.analysis.optional.iter().map(reason_line));
        }
        if let Some(width) = &self.analysis.integer_width {
            let place = |file: &str, line: u32| format!("{DIM}{}:{line}{DIM:#}", escape_unprintable(file));
            let by = match &*width.module {
                "numpy" => "numpy's default integer has 32 bits in a cell".to_owned(),
                other => {
                    format!("{} loads numpy, whose default integer has 32 bits in a cell", escape_unprintable(other))
                }
            };
            self.print_row("results", &format!("{} {by}, 64 elsewhere", place(&width.file, width.line)));
            let hit = |one: &DefaultInteger| {
                format!("{} {}: of that width", place(&one.file, one.line), escape_unprintable(&one.what))
            };
            self.print_list("", width.places.iter().map(hit));
        }
        let classes: Vec<&str> = self.analysis.classes.iter().map(|class| class.name()).collect();
        self.print_row("class", &classes.join(", "));
    }

    /// Imports, calls, files.
    pub fn print_contents(&self) {
        let requires = self.analysis.requirements.iter().map(|one| {
            let through = match &one.chain[..] {
                [first, _, ..] => format!(" {DIM}(through {}){DIM:#}", escape_unprintable(first)),
                _ => String::new(),
            };
            format!("{}: {}{through}", escape_unprintable(&one.package), escape_unprintable(&one.what))
        });
        self.print_list("requires", requires);
        for (group, names) in imports_by_group(&self.analysis.imports) {
            self.print_row(group, &names.join(" "));
        }
        for (name, word) in refused_at_use(&self.analysis.imports) {
            let place = word["where"].as_str().unwrap_or_default().to_owned();
            let why = word["why"].as_str().unwrap_or_default();
            self.print_row(
                "",
                &format!("{DIM}{}{DIM:#} {name} can be imported, not used: {why}", escape_unprintable(&place)),
            );
        }
        self.print_list("does", effect_lines(&self.analysis.effects).into_iter());
        self.print_list("at its start", self.analysis.work.iter().map(finding_line));
        let native = self.analysis.native_files.iter();
        self.print_list(
            "native files",
            native.map(|native| format!("{} ({})", escape_unprintable(&native.file), escape_unprintable(&native.kind))),
        );
        self.print_list("not known", self.analysis.unknown.iter().map(finding_line));
        let unread = self.analysis.unread.iter();
        self.print_list(
            "not read",
            unread
                .map(|one| format!("{}:{} {}", escape_unprintable(&one.file), one.line, escape_unprintable(&one.why))),
        );
        self.print_list("not imported", self.analysis.unreached.iter().map(|file| escape_unprintable(file)));
    }

    /// The `permissions` block to add to the manifest.
    pub fn print_permissions(&self) {
        let asking = &self.analysis.permissions;
        if asking.yaml.is_empty() {
            self.print_row("to ask for", "nothing: it needs no grant");
        } else {
            self.print_row("to ask for", &format!("{DIM}for its manifest.yaml{DIM:#}"));
            for line in escape_unprintable(&asking.yaml).lines() {
                let style = if line.trim_start().starts_with('#') { DIM } else { Style::new() };
                self.printer.print_line(&format!("    {style}{line}{style:#}"));
            }
        }
        self.print_list("", asking.remarks.iter().map(|remark| escape_unprintable(remark)));
    }

    fn print_row(&self, name: &str, text: &str) {
        self.printer.print_row(name, text);
    }

    fn print_list(&self, name: &str, lines: impl Iterator<Item = String>) {
        let lines: Vec<String> = lines.collect();
        let shown = if self.all { lines.len() } else { SHOWN_LINES };
        for (at, line) in lines.iter().take(shown).enumerate() {
            self.print_row(if at == 0 { name } else { "" }, line);
        }
        if lines.len() > shown {
            self.print_row("", &format!("{DIM}and {} more: --all{DIM:#}", lines.len() - shown));
        }
    }
}

fn reason_line(reason: &Reason) -> String {
    let when = reason.when.map_or(String::new(), |when| format!(", {}", when.words()));
    let is_said = reason.text.starts_with("every call") || reason.text.starts_with("in every call");
    let when = if is_said { String::new() } else { when };
    format!("{DIM}{}{DIM:#} {}{when}", escape_unprintable(&reason.place()), escape_unprintable(&reason.text))
}

fn finding_line(finding: &Finding) -> String {
    let when = finding.when.map_or(String::new(), |when| format!(", {}", when.words()));
    let words = finding.effect.map_or(String::new(), |effect| format!("{} ", effect.words()));
    let what = if words.is_empty() {
        escape_unprintable(&finding.what)
    } else {
        format!("({})", escape_unprintable(&finding.what))
    };
    format!("{DIM}{}{DIM:#} {words}{what}{when}", escape_unprintable(&finding.place()))
}

/// One line for each kind of call that runs, with its places.
fn effect_lines(effects: &[Finding]) -> Vec<String> {
    let mut kinds: BTreeMap<Effect, Vec<String>> = BTreeMap::new();
    for finding in effects.iter().filter(|finding| finding.when.is_some()) {
        if let Some(effect) = finding.effect {
            kinds.entry(effect).or_default().push(format!("{} {}", finding.place(), finding.what));
        }
    }
    let line = |(effect, places): (Effect, Vec<String>)| {
        let more = if places.len() > 2 { format!(", and {} more", places.len() - 2) } else { String::new() };
        let shown = places.into_iter().take(2).collect::<Vec<_>>().join(", ");
        format!("{} {DIM}({}{more}){DIM:#}", effect.words(), escape_unprintable(&shown))
    };
    kinds.into_iter().map(line).collect()
}

/// Module names by group, each once. Modules in `google.` are different packages, so they keep their full names.
fn imports_by_group(imports: &[Imported]) -> BTreeMap<&'static str, Vec<String>> {
    let mut groups: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for import in imports.iter().filter(|import| import.when.is_some()) {
        let top = import.module.split('.').find(|part| !part.is_empty()).unwrap_or(&import.module);
        let full = if import.module.starts_with("google.") { &import.module } else { top };
        let name = escape_unprintable(full);
        let names = groups.entry(import.what.group()).or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    groups
}

/// The JSON key `imports`: by kind, where each top-level module is first imported. `analysis` has more; this key is
/// older and stays.
pub fn imports_json(analysis: &Analysis) -> Value {
    let mut kinds: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for import in &analysis.imports {
        let kind = match import.what.group() {
            "stand-in" => "stdlib",
            "runtime" | "framework" | "package" => "available",
            "stdlib, not in a cell" => "missing",
            other => other,
        };
        let name = import.module.split('.').find(|part| !part.is_empty()).unwrap_or(&import.module).to_owned();
        if import.when.is_some() {
            kinds
                .entry(kind)
                .or_default()
                .entry(name)
                .or_insert_with(|| json!(format!("{}:{}", import.file, import.line)));
        }
    }
    json!(kinds)
}

/// What the skill imports that a cell refuses at use, with where and why.
pub fn refused_at_use(imports: &[Imported]) -> Map<String, Value> {
    let found = REFUSED_AT_USE.into_iter().filter_map(|(name, why)| {
        let is = |import: &&Imported| import.module.split('.').next() == Some(name) && import.when.is_some();
        let import = imports.iter().find(is)?;
        Some((name.to_owned(), json!({"where": format!("{}:{}", import.file, import.line), "why": why})))
    });
    found.collect()
}
