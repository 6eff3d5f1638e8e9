//! Environment markers, `python_version < "3.11" and extra == "fast"`, evaluated for the guest. pip evaluates them for the
//! Python that it runs on, whatever platform it is asked to look for (pypa/pip issue 11664).

use super::specifier::Specifiers;
use super::version::Version;

/// What markers see. Tested against a cell in `tests/packages.rs`.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("implementation_name", "cpython"),
    ("implementation_version", "3.15.0"),
    ("os_name", "posix"),
    ("platform_machine", "wasm32"),
    ("platform_python_implementation", "CPython"),
    ("platform_release", "0.0.0"),
    ("platform_system", "wasi"),
    ("platform_version", "0.0.0"),
    ("python_full_version", "3.15.0"),
    ("python_version", "3.15"),
    ("sys_platform", "wasi"),
];

const MAX_DEPTH: usize = 16;

/// Whether a marker holds in the guest, for a package that is wanted with these extras. Says what is wrong with it
/// otherwise.
pub fn holds(marker: &str, extras: &[String]) -> Result<bool, String> {
    let mut reader = Reader { rest: marker, extras };
    let holds = reader.either(0)?;
    reader.skip();
    if reader.rest.is_empty() { Ok(holds) } else { Err(format!("`{marker}` is not an environment marker")) }
}

struct Reader<'a> {
    rest: &'a str,
    extras: &'a [String],
}

enum Operand<'a> {
    Variable(&'a str),
    Text(&'a str),
}

impl<'a> Reader<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn word(&mut self, word: &str) -> bool {
        self.skip();
        let after = self.rest.strip_prefix(word);
        let after = after.filter(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn either(&mut self, depth: usize) -> Result<bool, String> {
        let mut holds = self.all(depth)?;
        while self.word("or") {
            holds |= self.all(depth)?;
        }
        Ok(holds)
    }

    fn all(&mut self, depth: usize) -> Result<bool, String> {
        let mut holds = self.one(depth)?;
        while self.word("and") {
            holds &= self.one(depth)?;
        }
        Ok(holds)
    }

    fn one(&mut self, depth: usize) -> Result<bool, String> {
        self.skip();
        let Some(inner) = self.rest.strip_prefix('(') else { return self.comparison() };
        if depth > MAX_DEPTH {
            return Err("an environment marker nests too deeply".into());
        }
        self.rest = inner;
        let holds = self.either(depth + 1)?;
        self.skip();
        self.rest = self.rest.strip_prefix(')').ok_or("an environment marker lacks a `)`")?;
        Ok(holds)
    }

    fn comparison(&mut self) -> Result<bool, String> {
        let left = self.operand()?;
        let operator = self.operator()?;
        let right = self.operand()?;
        if let (Operand::Variable("extra"), Operand::Text(extra)) | (Operand::Text(extra), Operand::Variable("extra")) =
            (&left, &right)
        {
            let extra = super::requirement::normalized(extra);
            let wanted = self.extras.contains(&extra);
            return Ok(if operator == "!=" { !wanted } else { wanted });
        }
        Ok(compare(value(&left)?, operator, value(&right)?))
    }

    fn operator(&mut self) -> Result<&'static str, String> {
        self.skip();
        for sign in ["===", "~=", "==", "!=", "<=", ">=", "<", ">"] {
            if let Some(after) = self.rest.strip_prefix(sign) {
                self.rest = after;
                return Ok(sign);
            }
        }
        if self.word("in") {
            return Ok("in");
        }
        if self.word("not") && self.word("in") {
            return Ok("not in");
        }
        Err("an environment marker lacks a comparison".into())
    }

    fn operand(&mut self) -> Result<Operand<'a>, String> {
        self.skip();
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let (text, after) = self.rest[1..].split_once(quote).ok_or("an environment marker lacks a quote")?;
            self.rest = after;
            return Ok(Operand::Text(text));
        }
        let end =
            self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at(end);
        self.rest = after;
        if name.is_empty() { Err("an environment marker lacks a value".into()) } else { Ok(Operand::Variable(name)) }
    }
}

fn value<'a>(operand: &Operand<'a>) -> Result<&'a str, String> {
    match operand {
        Operand::Text(text) => Ok(text),
        Operand::Variable(name) => {
            // Old spellings: `os.name`, `python_implementation`.
            let name = name.replace('.', "_").replace("python_implementation", "platform_python_implementation");
            let name = name.replace("platform_platform", "platform");
            let found = ENVIRONMENT.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            found.ok_or_else(|| format!("`{name}` is not an environment marker"))
        }
    }
}

/// As versions where the right side is one, else as text.
fn compare(left: &str, operator: &'static str, right: &str) -> bool {
    match operator {
        "in" => return right.contains(left),
        "not in" => return !right.contains(left),
        _ => {}
    }
    if let (Ok(clause), Some(version)) = (Specifiers::parse(&format!("{operator}{right}")), Version::parse(left)) {
        return clause.accept(&version);
    }
    match operator {
        "==" | "===" => left == right,
        "!=" => left != right,
        "<=" => left <= right,
        ">=" => left >= right,
        "<" => left < right,
        ">" => left > right,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_about_the_guest() {
        for yes in [
            "python_version >= '3.13'",
            "sys_platform != \"win32\" and python_version>\"3.9\"",
            "extra == 'Fast_Mode'",
            "(os_name == 'nt' or platform_machine in 'wasm32 x86_64') and implementation_name=='cpython'",
            "'3.15' == python_version",
            "platform_python_implementation != 'PyPy' or extra == 'none'",
            "python_full_version < '4.0.0'",
        ] {
            assert_eq!(holds(yes, &["fast-mode".into()]), Ok(true), "{yes}");
        }
        for no in
            ["python_version < '3.9'", "sys_platform == 'linux'", "extra == 'other'", "platform_system not in 'wasi'"]
        {
            assert_eq!(holds(no, &["fast-mode".into()]), Ok(false), "{no}");
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
            assert!(holds(odd, &[]).is_err(), "{odd}");
        }
        assert!(holds(&"(".repeat(10_000), &[]).is_err());
    }
}
