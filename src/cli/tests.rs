//! Promise: what the help and the documents say to type can be typed.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser};

use super::Cli;

/// Every command below this one, itself included.
fn all_commands(command: &clap::Command) -> Vec<clap::Command> {
    let below = command.get_subcommands().filter(|below| below.get_name() != "help").flat_map(all_commands);
    [command.clone()].into_iter().chain(below).collect()
}

fn help_texts() -> Vec<(String, String)> {
    let mut root = Cli::command();
    root.build();
    let text = |command: &clap::Command| command.get_after_help().map(ToString::to_string).unwrap_or_default();
    all_commands(&root)
        .iter()
        .map(|command| (command.get_bin_name().unwrap_or("skillcell").to_owned(), text(command)))
        .collect()
}

/// The arguments of each `skillcell` command in a shell line, without redirections.
fn skillcell_calls(line: &str) -> Vec<Vec<String>> {
    let (mut calls, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => word.get_or_insert_default().extend(chars.by_ref().take_while(|inner| *inner != c)),
            ' ' | ')' => words.extend(word.take()),
            '#' if word.is_none() => break,
            '|' | '&' | ';' | '>' | '<' => {
                words.extend(word.take());
                calls.push(std::mem::take(&mut words));
            }
            '(' if word.is_none() => {}
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    calls.push(words);
    calls.retain(|words| words.first().is_some_and(|word| word == "skillcell"));
    calls
}

fn check_line(place: &str, line: &str) -> usize {
    let calls = skillcell_calls(line);
    for words in &calls {
        if let Err(error) = Cli::try_parse_from(words) {
            let is_answer =
                matches!(error.kind(), clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion);
            assert!(is_answer, "{place}: `{line}`\n{error}");
        }
    }
    calls.len()
}

#[test]
fn every_command_has_examples_that_can_be_copied() {
    for (name, help) in help_texts() {
        let examples: Vec<&str> = help
            .lines()
            .skip_while(|line| *line != "Examples:")
            .skip(1)
            .take_while(|line| line.starts_with("  "))
            .collect();
        assert!(!examples.is_empty(), "`{name} --help` has no examples");
        let own = examples.iter().filter(|line| line.contains(&name)).count();
        assert!(own > 0, "no example of `{name}` is one of it");
        // A line that a terminal of 80 columns breaks can't be copied.
        assert!(examples.iter().all(|line| line.chars().count() < 80), "{examples:#?}");
        for line in examples.join("\n").replace("\\\n", " ").lines() {
            assert!(check_line(&name, line.trim()) > 0, "`{name}`: `{line}` is no command");
        }
    }
}

/// The lines of shell blocks, with continued lines joined.
fn shell_lines(text: &str) -> Vec<String> {
    let (mut lines, mut in_shell, mut goes_on) = (Vec::<String>::new(), false, false);
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            in_shell = matches!(kind, "sh" | "console");
            continue;
        }
        if !in_shell {
            continue;
        }
        let (part, more) = line.strip_suffix('\\').map_or((line, false), |part| (part, true));
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(part.trim_start()),
            None => lines.push(part.strip_prefix("$ ").unwrap_or(part).to_owned()),
        }
        goes_on = more;
    }
    lines
}

fn find_markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            find_markdown(&entry.path(), found);
        } else if entry.path().extension().is_some_and(|ending| ending == "md") {
            found.push(entry.path());
        }
    }
}

#[test]
fn every_call_in_the_documents_is_one_that_the_program_takes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("README.md"), root.join("skills-compat/README.md"), root.join("CONTRIBUTING.md")];
    find_markdown(&root.join("docs"), &mut files);
    let mut count = 0;
    for file in files.iter().filter(|file| file.exists()) {
        for line in shell_lines(&fs::read_to_string(file).unwrap()) {
            // `…` stands for what a reader has to fill in.
            if !line.contains('…') {
                count += check_line(&file.display().to_string(), &line);
            }
        }
    }
    assert!(count > 40, "only {count} calls were found");
}

#[test]
fn the_definitions_hold_together() {
    Cli::command().debug_assert();
}
