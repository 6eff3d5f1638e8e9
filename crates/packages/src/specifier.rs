//! Which versions a requirement accepts: `>=1.2,<2`, PEP 440. Versions are read and compared by `pep440_rs`; what a clause
//! accepts is decided here, since that crate takes `0` for `==0.1.*`. A table in `testdata` holds it to Python's `packaging`.

use std::fmt;

use pep440_rs::Version;

/// The longest version that is read.
const MAX_VERSION: usize = 100;

/// Parses a version from an untrusted source; `None` if it is not valid.
pub fn parse_version(text: &str) -> Option<Version> {
    let text = text.trim();
    if text.len() > MAX_VERSION || !text.is_ascii() { None } else { text.parse().ok() }
}

/// Clauses that all have to hold. Empty accepts every version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Specifiers(Vec<Clause>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Clause {
    operator: Operator,
    version: Version,
    /// The version as it is written, which `===` compares.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Compatible,
    Equal,
    NotEqual,
    /// `==1.2.*`
    EqualPrefix,
    NotEqualPrefix,
    AtMost,
    AtLeast,
    Less,
    Greater,
    Identical,
}

/// Longest first: `==` is the beginning of `===`.
const OPERATORS: [(&str, Operator); 8] = [
    ("===", Operator::Identical),
    ("~=", Operator::Compatible),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl Specifiers {
    /// Reads clauses that are separated by commas. Says what is wrong otherwise.
    pub fn parse(text: &str) -> Result<Specifiers, String> {
        let clauses = text.split(',').map(str::trim).filter(|clause| !clause.is_empty());
        clauses.map(Clause::parse).collect::<Result<_, _>>().map(Specifiers)
    }

    /// Whether a version is accepted. So are pre-releases: whether to choose one is up to pip.
    pub fn accept(&self, version: &Version) -> bool {
        self.0.iter().all(|clause| clause.accepts(version))
    }

    /// Adds the clauses of another set.
    pub fn add_clauses(&mut self, other: &Specifiers) {
        for clause in &other.0 {
            if !self.0.contains(clause) {
                self.0.push(clause.clone());
            }
        }
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Specifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, clause) in self.0.iter().enumerate() {
            let (sign, star) = clause.operator.prefix_and_suffix();
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{sign}{}{star}", clause.text)?;
        }
        Ok(())
    }
}

impl Operator {
    /// What stands before the version, and after it.
    fn prefix_and_suffix(self) -> (&'static str, &'static str) {
        match self {
            Operator::EqualPrefix => ("==", ".*"),
            Operator::NotEqualPrefix => ("!=", ".*"),
            plain => (OPERATORS.iter().find(|(_, operator)| *operator == plain).map_or("", |(sign, _)| sign), ""),
        }
    }
}

impl Clause {
    fn parse(text: &str) -> Result<Clause, String> {
        let found = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?.trim())));
        let (operator, rest) = found.ok_or_else(|| format!("`{text}` does not compare a version"))?;
        let (operator, number) = match (operator, rest.strip_suffix(".*")) {
            (Operator::Equal, Some(prefix)) => (Operator::EqualPrefix, prefix),
            (Operator::NotEqual, Some(prefix)) => (Operator::NotEqualPrefix, prefix),
            _ => (operator, rest),
        };
        let version = parse_version(number).ok_or_else(|| format!("`{rest}` is not a version"))?;
        let clause = Clause { operator, version, text: number.to_owned() };
        if clause.is_meaningful() { Ok(clause) } else { Err(format!("`{text}` can't be compared")) }
    }

    /// Some comparisons take only some versions: `~=1`, `==1.0rc1.*` and `>=1.0+local` mean nothing.
    fn is_meaningful(&self) -> bool {
        let version = &self.version;
        match self.operator {
            Operator::EqualPrefix | Operator::NotEqualPrefix => {
                !version.any_prerelease() && !version.is_post() && version.local().is_empty()
            }
            Operator::Compatible => version.release().len() > 1 && version.local().is_empty(),
            Operator::AtMost | Operator::AtLeast | Operator::Less | Operator::Greater => version.local().is_empty(),
            Operator::Equal | Operator::NotEqual | Operator::Identical => true,
        }
    }

    fn accepts(&self, version: &Version) -> bool {
        let Clause { operator, version: ours, text } = self;
        let public = || version.clone().without_local();
        match operator {
            Operator::Identical => version.to_string().eq_ignore_ascii_case(text),
            Operator::EqualPrefix => starts_with(version, ours, ours.release().len()),
            Operator::NotEqualPrefix => !starts_with(version, ours, ours.release().len()),
            Operator::Equal => self.is_same(version),
            Operator::NotEqual => !self.is_same(version),
            Operator::AtLeast => public() >= *ours,
            Operator::AtMost => public() <= *ours,
            Operator::Compatible => public() >= *ours && starts_with(version, ours, ours.release().len() - 1),
            // A pre-release of the bound is not below it, unless the bound is one.
            Operator::Less if ours.any_prerelease() => version < ours,
            Operator::Less => *version < ours.clone().with_dev(Some(0)),
            // A post-release of the bound is not above it, unless the bound is one.
            Operator::Greater if ours.is_post() || ours.is_dev() => public() > *ours,
            Operator::Greater => version > ours && !(version.pre() == ours.pre() && is_same_release(version, ours)),
        }
    }

    /// What follows a `+` counts only if it is asked for.
    fn is_same(&self, version: &Version) -> bool {
        if self.version.local().is_empty() {
            version.clone().without_local() == self.version
        } else {
            *version == self.version
        }
    }
}

/// Whether a release begins with the first numbers of another one; a missing number counts as zero.
fn starts_with(version: &Version, prefix: &Version, numbers: usize) -> bool {
    let part = |at: usize| version.release().get(at).copied().unwrap_or(0);
    let same = prefix.release().iter().take(numbers).enumerate().all(|(at, &number)| part(at) == number);
    version.epoch() == prefix.epoch() && same
}

fn is_same_release(one: &Version, other: &Version) -> bool {
    starts_with(one, other, other.release().len()) && starts_with(other, one, one.release().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(specifiers: &str, version: &str) -> bool {
        Specifiers::parse(specifiers).unwrap().accept(&parse_version(version).unwrap())
    }

    #[test]
    fn clauses_accept_what_the_standard_says() {
        for (clauses, yes, no) in [
            (">=1.2,<2", "1.10", "2.0"),
            ("~=2.2", "2.9", "3.0"),
            ("~=1.4.5", "1.4.9", "1.5"),
            ("==1.2.*", "1.2.9", "1"),
            ("!=1.2.*", "1", "1.2.9"),
            ("==1.0", "1.0+local", "1.0.1"),
            ("<2", "1.9", "2.0rc1"),
            (">1", "1.1", "1.0.post1"),
            (">1.0", "1.0.1", "1.0+x"),
            ("", "0", ""),
            ("===1.0", "1.0", "1.0.0"),
        ] {
            assert!(accepts(clauses, yes), "{clauses} accepts {yes}");
            assert!(no.is_empty() || !accepts(clauses, no), "{clauses} does not accept {no}");
        }
    }

    #[test]
    fn clauses_are_written_as_they_are_read_and_odd_ones_are_refused() {
        let mut both = Specifiers::parse(" >= 1.2 , <2").unwrap();
        both.add_clauses(&Specifiers::parse("<2,!=1.5.*").unwrap());
        assert_eq!(both.to_string(), ">=1.2,<2,!=1.5.*");
        for odd in ["1.2", ">=x", "~=1", "=1", ">1.*", "== --index-url=x", "==1.0rc1.*", ">=1+a"] {
            assert!(Specifiers::parse(odd).is_err(), "{odd}");
        }
        assert!(Specifiers::parse(&format!("=={}", "1.".repeat(60) + "1")).is_err());
    }

    /// Made with `packaging` 26.3: a specifier, a version, and whether it is accepted (`x`: no specifier at all).
    #[test]
    fn clauses_agree_with_packaging() {
        for line in include_str!("testdata/specifiers.tsv").lines() {
            let [clauses, version, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let accepted = Specifiers::parse(clauses).map(|read| read.accept(&parse_version(version).unwrap()));
            let found = accepted.map_or("x", |accepted| if accepted { "1" } else { "0" });
            assert_eq!(found, expected, "{line}");
        }
    }
}
