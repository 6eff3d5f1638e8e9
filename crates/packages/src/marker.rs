//! Environment markers, `python_version < "3.11" and extra == "fast"`: read once, then evaluated for the Python that packages
//! are for. pip evaluates them for the Python that it runs on, whatever platform it is asked to look for (pypa/pip issue
//! 11664). Own code rather than `pep508_rs`: that keeps every marker it ever read and orders them as decision diagrams, which
//! an untrusted marker can make arbitrarily large.

use super::specifier::{Specifiers, parse_version};
use super::target::MarkerValues;
use crate::provision::normalize_name;

/// The variables that there are.
pub const VARIABLES: [&str; 11] = [
    "implementation_name",
    "implementation_version",
    "os_name",
    "platform_machine",
    "platform_python_implementation",
    "platform_release",
    "platform_system",
    "platform_version",
    "python_full_version",
    "python_version",
    "sys_platform",
];
/// Those that compare as versions do.
const VERSIONS: [&str; 4] = ["implementation_version", "platform_release", "python_full_version", "python_version"];
const EXTRA: &str = "extra";
const MAX_DEPTH: usize = 16;

/// A marker, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    Any(Vec<Marker>),
    All(Vec<Marker>),
    Compare { left: Operand, operator: &'static str, right: Operand },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    Variable(&'static str),
    Text(String),
}

impl Marker {
    /// Reads a marker. Says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Marker, String> {
        let mut reader = Reader { rest: text };
        let marker = reader.read_any(0)?;
        reader.skip_blanks();
        if reader.rest.is_empty() { Ok(marker) } else { Err(format!("`{text}` is not an environment marker")) }
    }

    /// Whether it holds for a Python, and for a package that is wanted with these extras: as in pip, one of them is enough.
    pub fn holds(&self, values: &MarkerValues, extras: &[String]) -> bool {
        if extras.is_empty() {
            return self.evaluate(values, "");
        }
        extras.iter().any(|extra| self.evaluate(values, extra))
    }

    fn evaluate(&self, values: &MarkerValues, extra: &str) -> bool {
        match self {
            Marker::Any(markers) => markers.iter().any(|marker| marker.evaluate(values, extra)),
            Marker::All(markers) => markers.iter().all(|marker| marker.evaluate(values, extra)),
            Marker::Compare { left, operator, right } => {
                let value = |operand: &Operand| match operand {
                    Operand::Variable(EXTRA) => extra.to_owned(),
                    Operand::Variable(name) => values.get(*name).cloned().unwrap_or_default(),
                    Operand::Text(text) if left.is_extra() || right.is_extra() => normalize_name(text),
                    Operand::Text(text) => text.clone(),
                };
                let versions = left.is_version() || (right.is_version() && !matches!(left, Operand::Variable(_)));
                compare_values(&value(left), operator, &value(right), versions)
            }
        }
    }
}

impl Operand {
    fn is_extra(&self) -> bool {
        *self == Operand::Variable(EXTRA)
    }

    fn is_version(&self) -> bool {
        matches!(self, Operand::Variable(name) if VERSIONS.contains(name))
    }
}

/// As versions where that makes sense. Texts have no order: of `<` and the like only the equal part is left.
fn compare_values(left: &str, operator: &str, right: &str, versions: bool) -> bool {
    if versions && let Ok(clause) = Specifiers::parse(&format!("{operator}{right}")) {
        return parse_version(left).is_some_and(|version| clause.accept(&version));
    }
    match operator {
        "in" => right.contains(left),
        "not in" => !right.contains(left),
        "==" | "===" | "<=" | ">=" => left == right,
        "!=" => left != right,
        _ => false,
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let after = self.rest.strip_prefix(word);
        let after = after.filter(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn read_any(&mut self, depth: usize) -> Result<Marker, String> {
        let mut markers = vec![self.read_all(depth)?];
        while self.take_word("or") {
            markers.push(self.read_all(depth)?);
        }
        Ok(Marker::Any(markers))
    }

    fn read_all(&mut self, depth: usize) -> Result<Marker, String> {
        let mut markers = vec![self.read_one(depth)?];
        while self.take_word("and") {
            markers.push(self.read_one(depth)?);
        }
        Ok(Marker::All(markers))
    }

    fn read_one(&mut self, depth: usize) -> Result<Marker, String> {
        self.skip_blanks();
        let Some(inner) = self.rest.strip_prefix('(') else { return self.read_comparison() };
        if depth > MAX_DEPTH {
            return Err("an environment marker nests too deeply".into());
        }
        self.rest = inner;
        let marker = self.read_any(depth + 1)?;
        self.skip_blanks();
        self.rest = self.rest.strip_prefix(')').ok_or("an environment marker lacks a `)`")?;
        Ok(marker)
    }

    fn read_comparison(&mut self) -> Result<Marker, String> {
        let left = self.read_operand()?;
        let operator = self.read_operator()?;
        let right = self.read_operand()?;
        Ok(Marker::Compare { left, operator, right })
    }

    fn read_operator(&mut self) -> Result<&'static str, String> {
        self.skip_blanks();
        for sign in ["===", "~=", "==", "!=", "<=", ">=", "<", ">"] {
            if let Some(after) = self.rest.strip_prefix(sign) {
                self.rest = after;
                return Ok(sign);
            }
        }
        if self.take_word("in") {
            return Ok("in");
        }
        if self.take_word("not") && self.take_word("in") {
            return Ok("not in");
        }
        Err("an environment marker lacks a comparison".into())
    }

    fn read_operand(&mut self) -> Result<Operand, String> {
        self.skip_blanks();
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let (text, after) = self.rest[1..].split_once(quote).ok_or("an environment marker lacks a quote")?;
            self.rest = after;
            return Ok(Operand::Text(text.to_owned()));
        }
        let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c: char| !of_name(c)).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at(end);
        self.rest = after;
        if name.is_empty() { Err("an environment marker lacks a value".into()) } else { read_variable(name) }
    }
}

fn read_variable(name: &str) -> Result<Operand, String> {
    // Old spellings.
    let known = match name {
        "os.name" => "os_name",
        "sys.platform" => "sys_platform",
        "platform.version" => "platform_version",
        "platform.machine" => "platform_machine",
        "platform.python_implementation" | "python_implementation" => "platform_python_implementation",
        other => other,
    };
    let found = VARIABLES.into_iter().chain([EXTRA]).find(|variable| *variable == known);
    found.map(Operand::Variable).ok_or_else(|| format!("`{name}` is not an environment marker"))
}

#[cfg(test)]
mod tests {
    use super::super::target::Target;
    use super::*;

    fn holds(marker: &str, extras: &[&str]) -> Result<bool, String> {
        let extras: Vec<String> = extras.iter().map(|extra| (*extra).to_owned()).collect();
        Ok(Marker::parse(marker)?.holds(&Target::guest(Default::default()).values, &extras))
    }

    #[test]
    fn markers_are_about_the_target() {
        for yes in [
            "python_version >= '3.13'",
            "sys_platform != \"win32\" and python_version>\"3.9\"",
            "extra == 'Fast_Mode'",
            "(os_name == 'nt' or platform_machine in 'wasm32 x86_64') and implementation_name=='cpython'",
            "'3.15' == python_version",
            "platform_python_implementation != 'PyPy' or extra == 'none'",
            "python_full_version < '4.0.0'",
        ] {
            assert_eq!(holds(yes, &["fast-mode"]), Ok(true), "{yes}");
        }
        for no in [
            "python_version < '3.9'",
            "sys_platform == 'linux'",
            "extra == 'other'",
            "platform_system not in 'wasi'",
            "sys_platform > 'a'",
        ] {
            assert_eq!(holds(no, &["fast-mode"]), Ok(false), "{no}");
        }
        let elsewhere = [("sys_platform".to_owned(), "linux".to_owned())].into();
        assert!(Marker::parse("sys_platform == 'linux'").unwrap().holds(&elsewhere, &[]));
    }

    /// Made with `packaging` 26.3 for the guest: a marker, an extra, and whether it holds.
    #[test]
    fn markers_agree_with_packaging() {
        for line in include_str!("testdata/markers.tsv").lines() {
            let [marker, extra, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let extras: &[&str] = if extra.is_empty() { &[] } else { &[extra] };
            assert_eq!(holds(marker, extras), Ok(expected == "1"), "{line}");
        }
    }

    #[test]
    fn odd_markers_are_refused() {
        for odd in [
            "",
            "python_version",
            "python_version <",
            "secret == 'x'",
            "(python_version < '3'",
            "a b c",
            "'x' == 'x' junk",
        ] {
            assert!(Marker::parse(odd).is_err(), "{odd}");
        }
        assert!(Marker::parse(&"(".repeat(10_000)).is_err());
    }
}
