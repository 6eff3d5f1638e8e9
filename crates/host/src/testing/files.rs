//! Which files of a skill are tests, and what lies around a skill in its registry that tests may need.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::{TestCall, TestError, has_command_line};
use skillcell_cache::Pack;
use skillcell_packages::skill::{Origin, Skill};
use skillcell_vfs::{Content, Tree};

/// Folders that pytest does not look into.
const PASSED_OVER: &[&str] = &["build", "dist", "venv", "node_modules", "__pycache__"];
/// What tests may need of the folders above a skill: packages, fixtures, and at the registry's root pytest's
/// configuration.
const ABOVE: &[&str] = &["__init__.py", "conftest.py"];
const AT_ROOT: &[&str] = &["conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"];
/// The longest of these.
const MAX_BYTES: u64 = 1 << 20;

/// One cell's worth of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub file: String,
    /// `file`, or with `::` and names in it.
    pub test: String,
    /// A script to be started for its usage, and no file of tests.
    pub is_script: bool,
}

/// The files to run, in order; every file of the skill that pytest would collect, unless the call names some.
pub fn choose_files(skill: &Skill, call: &TestCall) -> Result<Vec<Chosen>, TestError> {
    let own = |file: &str| skill.files().iter().any(|(path, _)| path == file);
    if !call.files.is_empty() {
        let named = call.files.iter().map(|given| -> Result<Vec<Chosen>, TestError> {
            let given = given.strip_prefix("./").unwrap_or(given);
            let file = given.split("::").next().unwrap_or(given).to_owned();
            if own(&file) {
                let is_script = skill.is_agent_skill() && !is_test(&file);
                return Ok(vec![Chosen { file, test: given.to_owned(), is_script }]);
            }
            let below = all_below(skill, call, &format!("{}/", file.trim_end_matches('/')));
            let missing = || TestError::NoFile { skill: skill.id().to_owned(), file };
            if below.is_empty() { Err(missing()) } else { Ok(below) }
        });
        return Ok(named.collect::<Result<Vec<_>, _>>()?.concat());
    }
    let all = all_below(skill, call, "");
    if all.is_empty() { Err(TestError::NoTests { skill: skill.id().to_owned() }) } else { Ok(all) }
}

/// The test files in one of the skill's folders, and the scripts there that have a command line.
fn all_below(skill: &Skill, call: &TestCall, folder: &str) -> Vec<Chosen> {
    let chosen = |is_script| move |path: &str| Chosen { file: path.to_owned(), test: path.to_owned(), is_script };
    let paths = skill.files().iter().map(|(path, _)| path.as_str());
    let tests = paths.filter(|path| path.starts_with(folder) && is_test(path)).map(chosen(false));
    // Names of tests choose among tests.
    let scripts =
        if skill.is_agent_skill() && call.scripts && call.keyword.is_none() { skill.scripts() } else { Vec::new() };
    let scripts = scripts.into_iter().filter(|path| path.starts_with(folder) && has_command_line(skill, path));
    tests.chain(scripts.map(chosen(true))).collect()
}

fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or(path);
    let passed_over = |part: &str| part.starts_with('.') || PASSED_OVER.contains(&part);
    let named = name.strip_suffix(".py").is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"));
    named && !parts.any(passed_over)
}

/// The files around a skill in a registry, `skills/<category>/<name>`, by their paths from its root. `None` for a skill
/// on its own.
pub fn registry_surroundings(skill: &Skill, registry: &Pack) -> Result<Option<Arc<Tree>>, TestError> {
    if skill.is_agent_skill() {
        return Ok(None);
    }
    let Some((category, _)) = skill.id().split_once('/').filter(|(_, name)| !name.contains('/')) else {
        return Ok(None);
    };
    let mut tree = Tree::new();
    let mut add = |path: &str, bytes: Vec<u8>| {
        // The names are our own constants, below folders of the skill's own path; one that can't be added is left out.
        let _ = tree.insert(path, Content::Bytes(bytes.into()));
    };
    match skill.origin() {
        Origin::Memory => {}
        Origin::Registry => {
            for (from, to) in [("", "skills/"), (&*format!("{category}/"), &*format!("skills/{category}/"))] {
                for name in ABOVE {
                    let Ok(bytes) = registry.read(&format!("{from}{name}")) else { continue };
                    add(&format!("{to}{name}"), bytes);
                }
            }
        }
        Origin::Folder(folder) => {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let inside = format!("skills/{category}/");
            for (up, to, names) in [(1, &*inside, ABOVE), (2, "skills/", ABOVE), (3, "", AT_ROOT)] {
                let Some(above) = folder.ancestors().nth(up) else { continue };
                // Above a root that is not named `skills` there may be anything.
                if up == 3 && !folder.ancestors().nth(2).is_some_and(|root| root.ends_with("skills")) {
                    continue;
                }
                for name in names {
                    if let Some(bytes) = read_plain_file(&above.join(name))? {
                        add(&format!("{to}{name}"), bytes);
                    }
                }
            }
        }
    }
    Ok(Some(Arc::new(tree)))
}

/// A plain file, if there is one.
fn read_plain_file(path: &Path) -> Result<Option<Vec<u8>>, TestError> {
    let failed = |source| TestError::Surroundings { path: path.to_owned(), source };
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() <= MAX_BYTES => {}
        _ => return Ok(None),
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(failed)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_named_as_pytest_expects_and_not_in_folders_that_it_passes_over() {
        for test in ["test_skill.py", "tests/test_a.py", "a/b/c_test.py", "test_.py"] {
            assert!(is_test(test), "{test}");
        }
        for other in
            ["skill.py", "test_data.json", "tests/conftest.py", ".hidden/test_a.py", "venv/x/test_a.py", "mytest.py"]
        {
            assert!(!is_test(other), "{other}");
        }
    }
}
