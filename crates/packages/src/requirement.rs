//! Requirements, PEP 508, as a manifest or a wheel states them. Both are untrusted: names must be plain, and anything that
//! pip would read as an option, an address or a path is refused.

use std::fmt;

use super::marker::Marker;
use super::specifier::Specifiers;
use super::target::MarkerValues;
use crate::provision::normalize_name;
use skillcell_quote::cut;
use skillcell_quote::is_plain;

/// The longest requirement, and the longest name in it.
const MAX_CHARS: usize = 1000;
const MAX_NAME: usize = 100;
const MAX_EXTRAS: usize = 32;

/// Requirements as they are kept: bounded, without control characters. A requirement that this invalidates is refused, with the reason.
pub fn clean_requirements(requirements: &[String]) -> Vec<String> {
    let clean = |text: &String| {
        let shown = text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' });
        shown.take(MAX_CHARS + 1).collect()
    };
    requirements.iter().map(clean).collect()
}

/// A requirement, read. Written again it is nothing but a name and comparisons of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Normalized: lower case, words joined by `-`.
    pub name: String,
    /// Normalized likewise.
    pub extras: Vec<String>,
    pub specifiers: Specifiers,
    marker: Option<Marker>,
}

/// A requirement that is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequirement {
    /// As it is written, cut where that is long.
    pub text: String,
    pub why: String,
    marker: Option<Marker>,
}

impl RefusedRequirement {
    /// Whether it would be needed, for a package that is wanted with these extras.
    pub fn applies_to(&self, values: &MarkerValues, extras: &[String]) -> bool {
        self.marker.as_ref().is_none_or(|marker| marker.holds(values, extras))
    }
}

impl Requirement {
    /// Reads a requirement. Says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Requirement, RefusedRequirement> {
        let text = text.trim();
        Requirement::parse_parts(text).map_err(|why| RefusedRequirement {
            text: cut(text, MAX_CHARS),
            why,
            marker: marker_of_refused(text),
        })
    }

    fn parse_parts(text: &str) -> Result<Requirement, String> {
        if text.len() > MAX_CHARS {
            return Err(format!("it is longer than {MAX_CHARS} characters"));
        }
        if text.chars().any(|c| c.is_control() && c != '\t') {
            return Err("it has a control character".into());
        }
        if text.starts_with('-') {
            return Err("it is an option of pip".into());
        }
        let end = text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        check_name(name)?;
        let (extras, rest) = read_extras(rest.trim_start())?;
        let (versions, marker) = rest.split_once(';').map_or((rest, None), |(versions, m)| (versions, Some(m.trim())));
        if versions.starts_with('@') || versions.contains("://") {
            return Err("it names an address; only packages of the index are taken".into());
        }
        if versions.starts_with(['/', '\\', ':']) {
            return Err("it names a file; only packages of the index are taken".into());
        }
        let versions = versions.trim();
        // The old form `name (>=1)`.
        let versions = versions.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(versions);
        let specifiers = Specifiers::parse(versions)?;
        let marker = marker.map(Marker::parse).transpose()?;
        Ok(Requirement { name: normalize_name(name), extras, specifiers, marker })
    }

    /// Whether it is needed by a Python, for a package that is wanted with these extras.
    pub fn applies_to(&self, values: &MarkerValues, extras: &[String]) -> bool {
        self.marker.as_ref().is_none_or(|marker| marker.holds(values, extras))
    }

    /// The same package, as it is without any extra.
    pub fn without_extras(&self) -> Requirement {
        Requirement { extras: Vec::new(), ..self.clone() }
    }

    /// Any version of a package, by its normalized name.
    pub fn of_any_version(name: String) -> Requirement {
        Requirement { name, extras: Vec::new(), specifiers: Specifiers::default(), marker: None }
    }
}

/// An address may have a `;` in it: a marker comes after a blank.
fn marker_of_refused(text: &str) -> Option<Marker> {
    let (_, marker) = text.rsplit_once(" ;").or_else(|| text.rsplit_once("; "))?;
    Marker::parse(marker.trim()).ok().filter(|_| text.len() <= MAX_CHARS)
}

/// Without the marker.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.extras.is_empty() {
            write!(f, "[{}]", self.extras.join(","))?;
        }
        write!(f, "{}", self.specifiers)
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    if plain(name.chars().next()) && plain(name.chars().last()) && name.len() <= MAX_NAME {
        Ok(())
    } else {
        Err("it does not begin with the name of a package".into())
    }
}

fn read_extras(rest: &str) -> Result<(Vec<String>, &str), String> {
    let Some(inner) = rest.strip_prefix('[') else { return Ok((Vec::new(), rest)) };
    let (inner, rest) = inner.split_once(']').ok_or("its `[` is not closed")?;
    let names = inner.split(',').map(str::trim).filter(|name| !name.is_empty()).take(MAX_EXTRAS + 1);
    let extras = names.map(|name| {
        let plain = name.chars().all(is_of_name);
        if plain { check_name(name).map(|()| normalize_name(name)) } else { Err("an extra of it is not a name".into()) }
    });
    let extras = extras.collect::<Result<Vec<_>, String>>()?;
    if extras.len() > MAX_EXTRAS {
        return Err(format!("it has more than {MAX_EXTRAS} extras"));
    }
    Ok((extras, rest.trim_start()))
}

#[cfg(test)]
mod tests {

    use super::super::target::Target;
    use super::*;

    #[test]
    fn requirements_are_read_and_written() {
        for (text, written) in [
            ("requests", "requests"),
            ("Python_PPTX >= 1.0.0 ", "python-pptx>=1.0.0"),
            ("httpx [http2, SOCKS]~=0.28", "httpx[http2,socks]~=0.28"),
            ("toolz (>=0.8)", "toolz>=0.8"),
            ("a.b==1.*; python_version<'4'", "a-b==1.*"),
        ] {
            assert_eq!(Requirement::parse(text).unwrap().to_string(), written);
        }
    }

    #[test]
    fn options_addresses_paths_and_oddities_are_refused() {
        for hostile in [
            "--index-url=https://evil.example",
            "-r /etc/passwd",
            "evil @ https://evil.example/x.whl",
            "evil@file:///etc",
            "./evil",
            "../../evil-1-py3-none-any.whl",
            "/etc/passwd",
            "git+https://evil.example/x",
            "C:\\evil",
            "name --hash=sha256:0",
            "name>=1 --global-option=x",
            "name\n--index-url=x",
            "name>=1;os_name",
            "name[",
            "name[a/b]",
            "",
            "name>=",
        ] {
            assert!(Requirement::parse(hostile).is_err(), "{hostile:?}");
        }
        assert!(Requirement::parse(&"x".repeat(2000)).is_err());
    }

    /// By a check of its own, so that it does not depend on what a version may look like.
    #[test]
    fn an_address_is_refused_as_one() {
        for text in ["x @ http://127.0.0.1/x.tar.gz", "x@file:///etc", "x[net] @ git+ssh://h/x", "x >=1 http://h/"] {
            assert!(Requirement::parse(text).unwrap_err().why.contains("it names an address"), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_is_written_as_a_name_and_comparisons(text in "[a-z-]{1,3}[ -~é\n]{0,60}") {
            if let Ok(read) = Requirement::parse(&text) {
                let written = read.to_string();
                let plain = |c: char| c.is_ascii_alphanumeric() || "-_.[],<>=!~*+".contains(c);
                proptest::prop_assert!(written.chars().all(plain) && !written.starts_with('-'), "{written:?}");
                let again = Requirement::parse(&written);
                proptest::prop_assert_eq!(again.map(|again| again.to_string()).ok(), Some(written));
            }
        }
    }

    #[test]
    fn markers_and_extras_decide_what_applies() {
        let values = &Target::guest(Default::default()).values;
        let of_extra = Requirement::parse("socks; extra == 'net'").unwrap();
        assert!(!of_extra.applies_to(values, &[]) && of_extra.applies_to(values, &["net".into()]));
        assert!(!Requirement::parse("x; sys_platform == 'win32'").unwrap().applies_to(values, &[]));
        let refused = Requirement::parse("x @ http://127.0.0.1/x;y.tar.gz ; extra == 'net'").unwrap_err();
        assert!(!refused.applies_to(values, &[]) && refused.applies_to(values, &["net".into()]));
        let refused = Requirement::parse("x @ http://127.0.0.1/x.tar.gz;extra=='net'").unwrap_err();
        assert!(refused.applies_to(values, &[]), "that is part of the address");
    }

    #[test]
    fn requirements_are_kept_bounded_and_without_control_characters() {
        assert_eq!(clean_requirements(&["a".into(), "b\u{1b}[31m".into()]), ["a", "b\u{fffd}[31m"]);
        assert!(clean_requirements(&["x".repeat(10_000)])[0].len() < 2000);
        assert!(Requirement::parse("").is_err() && Requirement::parse("b\u{fffd}[31m").is_err());
    }
}
