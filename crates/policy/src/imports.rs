//! Modules that no skill gets anything out of, for an early word about them. A courtesy: the cell is the boundary.
//!
//! Libraries that are no worse for it import them: `asyncio` imports `subprocess` and `socket`, `urllib3` imports `socket`,
//! numpy imports `ctypes`. So importing works, and using them raises, in the guest's stand-ins. What a skill's own files
//! are certain to import can be told before it runs.

use std::collections::BTreeMap;

use super::denial::{Denial, DenialKind};
use super::quote::{brief, toml};

/// What a cell refuses at use: the module, and what it lacks for it.
pub const REFUSED_AT_USE: [(&str, &str); 4] = [
    ("ctypes", "native libraries can't be loaded into a cell"),
    ("multiprocessing", "a cell has no processes; its thread pools work, one after the other"),
    ("socket", "a cell's sockets carry HTTP that was granted, and nothing else"),
    ("subprocess", "there are no programs in a cell to start"),
];

/// Of those, what has its uses in a cell: look-ups of names, and thread pools.
const HAVE_USES: [&str; 3] = ["socket", "multiprocessing.dummy", "multiprocessing.pool"];

/// What a skill that is not trusted is refused for: imports of its own files, by name and place, that are of no use in a
/// cell and that nobody allowed.
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

/// The module on the list that an import of this name is refused for.
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
