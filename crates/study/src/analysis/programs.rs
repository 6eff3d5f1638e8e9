//! Which programs a skill starts, by name: what is written where it starts them, or what a library is known to start.

use std::collections::BTreeSet;

use super::facts::Call;
use super::needs::Need;

/// The most that are named.
const MOST: usize = 20;

/// Libraries that are nothing without a program, and that program.
const BEHIND: [(&str, &str); 18] = [
    ("pytesseract.", "tesseract"),
    ("pdf2image.", "pdftoppm"),
    ("ffmpeg.", "ffmpeg"),
    ("pydub.", "ffmpeg"),
    ("moviepy.", "ffmpeg"),
    ("selenium.", "a browser"),
    ("playwright.", "a browser"),
    ("pyppeteer.", "a browser"),
    ("undetected_chromedriver.", "a browser"),
    ("webdriver_manager.", "a browser"),
    ("pdfkit.", "wkhtmltopdf"),
    ("imgkit.", "wkhtmltoimage"),
    ("pypandoc.", "pandoc"),
    ("graphviz.", "dot"),
    ("git.", "git"),
    ("docker.", "docker"),
    ("nmap.", "nmap"),
    ("camelot.", "gs"),
];

/// The programs that a call starts.
pub fn of_call(call: &Call) -> Vec<String> {
    let behind = BEHIND.iter().find(|(library, _)| call.name.starts_with(library));
    let named = call.commands.iter().filter_map(|command| program_of(command));
    let all: BTreeSet<String> = named.chain(behind.map(|(_, program)| (*program).to_owned())).collect();
    all.into_iter().take(MOST).collect()
}

/// All that the needs name for which `counts` holds.
pub fn all(needs: &[Need], counts: &dyn Fn(&Need) -> bool) -> Vec<String> {
    let named = needs.iter().filter(|need| !need.programs.is_empty() && counts(need));
    let all: BTreeSet<&String> = named.flat_map(|need| &need.programs).collect();
    all.into_iter().take(MOST).cloned().collect()
}

/// The program of a command line, without its folder: `FOO=1 /usr/bin/git log` starts `git`.
fn program_of(command: &str) -> Option<String> {
    let is_setting = |word: &&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let word = command.split_whitespace().find(|word| !is_setting(word))?;
    let name = word.rsplit('/').next().unwrap_or(word).trim_matches(['"', '\'']);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    (name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.len() <= 60 && name.chars().all(plain))
        .then(|| name.to_owned())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, commands: &[&str]) -> Vec<String> {
        let commands = commands.iter().map(|command| (*command).to_owned()).collect();
        of_call(&Call { name: name.to_owned(), commands, ..Call::default() })
    }

    #[test]
    fn a_program_has_the_name_that_a_shell_would_look_for() {
        let cases = [
            ("git", Some("git")),
            ("LANG=C /usr/bin/soffice --headless", Some("soffice")),
            ("'pdftotext' -layout", Some("pdftotext")),
            ("", None),
            ("$TOOL x", None),
            ("; rm -rf /", None),
            ("a`b", None),
        ];
        for (command, expected) in cases {
            assert_eq!(program_of(command).as_deref(), expected, "{command}");
        }
    }

    #[test]
    fn libraries_are_known_by_what_they_start() {
        assert_eq!(call("subprocess.run", &["git", "ffmpeg -i", "git"]), ["ffmpeg", "git"]);
        assert_eq!(call("pdf2image.convert_from_path", &[]), ["pdftoppm"]);
        assert!(call("subprocess.run", &[""]).is_empty());
    }
}
