//! One requirement, PEP 508, as a manifest or a wheel states it. Both are strangers: names are plain, and what pip would
//! take for an option, an address or a path is refused.

use std::fmt;

use super::marker;
use super::specifier::Specifiers;

/// The longest requirement, and the longest name in it.
const MAX_CHARS: usize = 1000;
const MAX_NAME: usize = 100;
const MAX_EXTRAS: usize = 32;

/// A requirement, read. Written again it is nothing but a name and comparisons of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Normalized: lower case, words joined by `-`.
    pub name: String,
    /// Normalized likewise.
    pub extras: Vec<String>,
    pub specifiers: Specifiers,
    marker: Option<String>,
}

impl Requirement {
    /// Reads a requirement. Says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Requirement, String> {
        let text = text.trim();
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
        if rest.starts_with('@') || rest.contains("://") {
            return Err("it names an address; only packages of the index are taken".into());
        }
        if rest.starts_with(['/', '\\', ':']) {
            return Err("it names a file; only packages of the index are taken".into());
        }
        let (versions, marker) = rest.split_once(';').map_or((rest, None), |(versions, m)| (versions, Some(m.trim())));
        let versions = versions.trim();
        let versions = versions.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(versions);
        let specifiers = Specifiers::parse(versions)?;
        // A marker that can't be read is refused now, not when it would matter.
        marker.map_or(Ok(true), |marker| marker::holds(marker, &[]))?;
        Ok(Requirement { name: normalized(name), extras, specifiers, marker: marker.map(str::to_owned) })
    }

    /// Whether it holds in the guest, for a package that is wanted with these extras.
    pub fn applies(&self, extras: &[String]) -> bool {
        self.marker.as_deref().is_none_or(|marker| marker::holds(marker, extras).unwrap_or(false))
    }

    /// The same package, as it is without any extra.
    pub fn without_extras(&self) -> Requirement {
        Requirement { extras: Vec::new(), ..self.clone() }
    }

    /// Whether it is there only for an extra of the package that states it.
    pub fn is_of_extra(&self, extras: &[String]) -> bool {
        !self.applies(&[]) && self.applies(extras)
    }
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

/// A distribution's name as indexes compare it (PEP 503).
pub fn normalized(name: &str) -> String {
    let mut made = String::with_capacity(name.len());
    for c in name.trim().chars() {
        match c {
            '-' | '_' | '.' if made.ends_with('-') => {}
            '-' | '_' | '.' => made.push('-'),
            c => made.push(c.to_ascii_lowercase()),
        }
    }
    made
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
        if plain { check_name(name).map(|()| normalized(name)) } else { Err("an extra of it is not a name".into()) }
    });
    let extras = extras.collect::<Result<Vec<_>, String>>()?;
    if extras.len() > MAX_EXTRAS {
        return Err(format!("it has more than {MAX_EXTRAS} extras"));
    }
    Ok((extras, rest.trim_start()))
}

#[cfg(test)]
mod tests {
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

    proptest::proptest! {
        #[test]
        fn whatever_is_read_is_written_as_a_name_and_comparisons(text in "[a-z-]{1,3}[ -~é\n]{0,60}") {
            if let Ok(read) = Requirement::parse(&text) {
                let written = read.to_string();
                let plain = |c: char| c.is_ascii_alphanumeric() || "-_.[],<>=!~*+".contains(c);
                proptest::prop_assert!(written.chars().all(plain) && !written.starts_with('-'), "{written:?}");
                let again = Requirement::parse(&written);
                proptest::prop_assert_eq!(again.map(|again| again.to_string()), Ok(written));
            }
        }
    }

    #[test]
    fn markers_and_extras_decide_what_applies() {
        let of_extra = Requirement::parse("socks; extra == 'net'").unwrap();
        assert!(!of_extra.applies(&[]) && of_extra.is_of_extra(&["net".into()]));
        assert!(!Requirement::parse("x; sys_platform == 'win32'").unwrap().applies(&[]));
    }
}
