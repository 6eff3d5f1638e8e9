//! Modules that don't work in a cell, so that a skill that imports them is told early. This is a convenience, not a
//! security check: the cell is the boundary.
//!
//! Many libraries import them and work without them: `asyncio` imports `subprocess` and `socket`, `urllib3` imports
//! `socket`, numpy imports `ctypes`. So importing works, and the guest's stand-ins raise on use. What a skill's own files
//! are certain to import is known before it runs.

use std::collections::BTreeMap;

use super::denial::{Denial, DenialKind};
use super::quote::{brief, toml};

/// Modules whose use raises in a cell, and why.
pub const REFUSED_AT_USE: [(&str, &str); 4] = [
    ("ctypes", "native libraries can't be loaded into a cell"),
    ("multiprocessing", "a cell has no processes; its thread pools work, one after the other"),
    ("socket", "a cell's sockets carry HTTP that was granted, and nothing else"),
    ("subprocess", "there are no programs in a cell to start"),
];

/// Submodules of those that do work in a cell: name lookups and thread pools.
const HAVE_USES: [&str; 3] = ["socket", "multiprocessing.dummy", "multiprocessing.pool"];

/// The denials for an untrusted skill whose own files import modules that don't work in a cell and were not allowed.
/// `imports` maps module names to where they are imported.
pub fn early_denials(skill: &str, imports: &BTreeMap<String, String>, allowed: &[String]) -> Vec<Denial> {
    let refused = REFUSED_AT_USE.iter().filter_map(|(module, why)| {
        let is_refused = |name: &str| {
            refused_import(name) == Some(module) && !allowed.iter().any(|allowed| is_within(name, allowed))
        };
        let (_, place) = imports.iter().find(|(name, _)| is_refused(name))?;
        Some(import_denial(skill, module, &brief(place), why))
    });
    refused.collect()
}

/// The entry of `REFUSED_AT_USE` that covers an import of this name, if any.
pub fn refused_import(name: &str) -> Option<&'static str> {
    let has_uses = HAVE_USES.iter().any(|fine| is_within(name, fine));
    let listed = REFUSED_AT_USE.iter().map(|(module, _)| *module);
    listed.filter(|_| !has_uses).find(|module| is_within(name, module))
}

fn is_within(name: &str, module: &str) -> bool {
    name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn import_denial(skill: &str, module: &str, place: &str, why: &str) -> Denial {
    let (skill, flag) = (toml(skill), format!("--allow-import {module}"));
    Denial {
        kind: DenialKind::Import,
        asked: module.to_owned(),
        rule: None,
        message: format!("`{place}` imports `{module}`, and {why}"),
        hint: Some(format!(
            "where it can do without, it may import it: `{flag}`; in `skillcell.toml`:\n[skill.{skill}]\nallow_import = \
             [\"{module}\"]"
        )),
        flag: Some(flag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(imports: &[&str], allowed: &[&str]) -> Vec<String> {
        let imports = imports.iter().map(|name| ((*name).to_owned(), "skill.py:3".to_owned())).collect();
        let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        early_denials("a/b", &imports, &allowed).into_iter().map(|denial| denial.asked).collect()
    }

    #[test]
    fn what_is_of_no_use_is_refused_and_what_is_allowed_or_of_use_is_not() {
        let all = ["ctypes.util", "json", "multiprocessing.Pool", "socket", "subprocess", "subprocess_tee"];
        assert_eq!(denied(&all, &[]), ["ctypes", "multiprocessing", "subprocess"]);
        assert_eq!(denied(&all, &["ctypes", "multiprocessing", "subprocess"]), [""; 0]);
        assert_eq!(denied(&["multiprocessing.pool.ThreadPool", "multiprocessing.dummy"], &[]), [""; 0]);
    }

    #[test]
    fn the_denial_names_the_line_and_the_flag() {
        let imports = [("subprocess".to_owned(), "lib/a.py:7".to_owned())].into();
        let denial = &early_denials("a/b", &imports, &[])[0];
        assert_eq!(denial.message, "`lib/a.py:7` imports `subprocess`, and there are no programs in a cell to start");
        assert_eq!(denial.flag.as_deref(), Some("--allow-import subprocess"));
        assert!(
            denial
                .hint
                .as_deref()
                .is_some_and(|hint| hint.ends_with("[skill.\"a/b\"]\nallow_import = [\"subprocess\"]"))
        );
    }
}
