//! Which versions a requirement accepts: `>=1.2,<2`, PEP 440.

use std::fmt;

use super::version::Version;

/// Clauses that all have to hold. Empty accepts every version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Specifiers(Vec<Clause>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Clause {
    operator: Operator,
    version: Version,
    /// `==1.2.*`
    wildcard: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Compatible,
    Equal,
    NotEqual,
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

    /// Whether a version is accepted. Pre-releases are: whoever chose one had a reason.
    pub fn accept(&self, version: &Version) -> bool {
        self.0.iter().all(|clause| clause.accepts(version))
    }

    /// Adds the clauses of another set.
    pub fn and(&mut self, other: &Specifiers) {
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
            let sign = OPERATORS.iter().find(|(_, operator)| *operator == clause.operator).map_or("", |(sign, _)| sign);
            let (comma, star) = (if at > 0 { "," } else { "" }, if clause.wildcard { ".*" } else { "" });
            write!(f, "{comma}{sign}{}{star}", clause.version)?;
        }
        Ok(())
    }
}

impl Clause {
    fn parse(text: &str) -> Result<Clause, String> {
        let found = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?.trim())));
        let (operator, rest) = found.ok_or_else(|| format!("`{text}` does not compare a version"))?;
        let (version, wildcard) = match rest.strip_suffix(".*") {
            Some(version) if matches!(operator, Operator::Equal | Operator::NotEqual) => (version, true),
            _ => (rest, false),
        };
        let version = Version::parse(version).ok_or_else(|| format!("`{rest}` is not a version"))?;
        if operator == Operator::Compatible && version.base().1.len() < 2 {
            return Err(format!("`{text}` needs a version with at least two numbers"));
        }
        Ok(Clause { operator, version, wildcard })
    }

    fn accepts(&self, version: &Version) -> bool {
        let Clause { operator, version: ours, wildcard } = self;
        let (epoch, release) = ours.base();
        match operator {
            Operator::Identical => version.as_str().eq_ignore_ascii_case(ours.as_str()),
            Operator::Equal if *wildcard => version.starts_with(ours.base()),
            Operator::NotEqual if *wildcard => !version.starts_with(ours.base()),
            Operator::Equal => same(version, ours),
            Operator::NotEqual => !same(version, ours),
            Operator::AtLeast => version.public() >= *ours,
            Operator::AtMost => version.public() <= *ours,
            Operator::Compatible => {
                version.public() >= *ours && version.starts_with((epoch, &release[..release.len() - 1]))
            }
            // Neither a pre-release of the bound, nor a post-release or local version of it, is beyond it.
            Operator::Less => {
                let own_pre = version.is_prerelease() && !ours.is_prerelease() && version.starts_with(ours.base());
                version < ours && !own_pre
            }
            Operator::Greater => {
                let own_post = version.is_post() && !ours.is_post() && version.base() == ours.base();
                version.public() > *ours && !own_post
            }
        }
    }
}

/// What follows a `+` counts only if it is asked for.
fn same(version: &Version, ours: &Version) -> bool {
    if ours.as_str().contains('+') { version == ours } else { version.public() == *ours }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(specifiers: &str, version: &str) -> bool {
        Specifiers::parse(specifiers).unwrap().accept(&Version::parse(version).unwrap())
    }

    #[test]
    fn clauses_accept_what_the_standard_says() {
        for (clauses, yes, no) in [
            (">=1.2,<2", "1.10", "2.0"),
            ("~=2.2", "2.9", "3.0"),
            ("~=1.4.5", "1.4.9", "1.5"),
            ("==1.2.*", "1.2.9", "1.3"),
            ("!=1.2.*", "1.3", "1.2.9"),
            ("==1.0", "1.0+local", "1.0.1"),
            ("<2", "1.9", "2.0rc1"),
            (">1.0", "1.1", "1.0.post1"),
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
        both.and(&Specifiers::parse("<2,!=1.5.*").unwrap());
        assert_eq!(both.to_string(), ">=1.2,<2,!=1.5.*");
        for odd in ["1.2", ">=x", "~=1", "=1", ">1.*", "== --index-url=x"] {
            assert!(Specifiers::parse(odd).is_err(), "{odd}");
        }
    }
}
