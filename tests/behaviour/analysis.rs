//! The verdicts on skills that nobody prepared for the analysis: each folder in `tests/analysis` is one, and
//! `expected.toml` beside them says what has to be found. Nothing of them is ever run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::common::tests;
use serde::Deserialize;
use serde_json::Value;
use skillcell::{Host, Roots};
use skillcell_policy::Permissions;
use skillcell_study::analysis::{Analysis, Reason, analyse};

/// Asks no index: what a package is that a cell does not have, the tables say, and the result does not hang on the network.
static HOST: LazyLock<Host> = LazyLock::new(|| {
    // What every skill needs may have to be fetched first: by a host that can.
    crate::common::HOST.install().expect("the runtime can be had");
    Host::builder().roots(Roots::new([])).offline(true).build().expect("the cache folder can be used")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    verdict: String,
    tier: String,
    classes: Vec<String>,
    #[serde(default)]
    because: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
    #[serde(default)]
    asks: Vec<String>,
}

fn expected() -> BTreeMap<String, Expected> {
    let text = fs::read_to_string(tests().join("analysis/expected.toml")).expect("expected.toml");
    toml::from_str(&text).expect("expected.toml is as described in it")
}

fn folder(name: &str) -> PathBuf {
    tests().join("analysis").join(name)
}

fn analysed(path: &Path) -> Analysis {
    let copy = unheard_of(path);
    let path = copy.path().join(path.file_name().expect("a name"));
    let skill = HOST.skill(path.to_str().expect("a plain path")).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    analyse(&HOST, &skill).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed").flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copied(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("copied")),
        }
    }
}

/// The same skill with one more requirement, which holds nowhere: of this set nothing is remembered from another day.
fn unheard_of(path: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    let salt = copy.path().file_name().expect("a name").to_string_lossy().replace('.', "");
    let target = copy.path().join(path.file_name().expect("a name"));
    copied(path, &target);
    let manifest = target.join("manifest.yaml");
    if let Ok(text) = fs::read_to_string(&manifest) {
        let more = format!("requirements: [\"salt-{salt}; os_name == 'nt'\", ");
        fs::write(&manifest, text.replace("requirements: [", &more)).expect("written");
    }
    copy
}

fn places(reasons: &[Reason]) -> Vec<String> {
    reasons.iter().map(Reason::place).collect()
}

/// The entries of a permissions block, one text each.
fn asks(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str| value[key].as_array().cloned().unwrap_or_default();
    let hosts =
        |secret: &Value| secret["hosts"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(",");
    let mut all: Vec<String> = list("network").iter().map(text).collect();
    all.extend(list("filesystem").iter().map(|one| format!("{}:{}", text(&one["path"]), text(&one["mode"]))));
    all.extend(list("env").iter().map(text));
    all.extend(list("secrets").iter().map(|one| format!("{}@{}", text(&one["name"]), hosts(one))));
    all
}

#[test]
fn every_folder_gets_the_verdict_that_it_deserves() {
    let expected = expected();
    let folders: BTreeSet<String> = fs::read_dir(tests().join("analysis"))
        .expect("listed")
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(folders, expected.keys().cloned().collect(), "a folder without expectations, or the other way round");
    let mut wrong = Vec::new();
    for (name, expected) in expected {
        let found = analysed(&folder(&name));
        let classes: Vec<&str> = found.classes.iter().map(|class| class.name()).collect();
        let mut differs = |what: &str, is: String, should: String| {
            if is != should {
                wrong.push(format!("{name}: {what} is {is}, not {should}"));
            }
        };
        differs("verdict", found.verdict.name().to_owned(), expected.verdict);
        differs("tier", found.best_tier.name().to_owned(), expected.tier);
        differs("classes", format!("{classes:?}"), format!("{:?}", expected.classes));
        differs("reasons", format!("{:?}", places(&found.reasons)), format!("{:?}", expected.because));
        differs("optional", format!("{:?}", places(&found.optional)), format!("{:?}", expected.without));
        differs("asks", format!("{:?}", asks(&found.permissions.value)), format!("{:?}", expected.asks));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_permissions_block_can_be_pasted_into_a_manifest() {
    for name in ["http_by_session", "files_given", "variables", "http_to_anywhere"] {
        let asking = analysed(&folder(name)).permissions;
        let copy = tempfile::tempdir().expect("a folder");
        let code = fs::read(folder(name).join("skill.py")).expect("skill.py");
        fs::write(copy.path().join("skill.py"), code).expect("written");
        let manifest = format!("name: {name}\nversion: 0.1.0\ndescription: d\n{}", asking.yaml);
        fs::write(copy.path().join("manifest.yaml"), manifest).expect("written");
        let read = analysed(copy.path()).manifest;
        assert_eq!(read["permissions"], asking.value, "{name}: YAML and JSON say the same");
        let asked = Permissions::parse(&read["permissions"]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!asked.is_empty());
        assert!(asking.yaml.lines().any(|line| line.trim_start().starts_with("# skill.py:")), "{}", asking.yaml);
    }
}

#[test]
fn files_that_no_parser_survives_are_named_and_the_others_are_read() {
    let found = analysed(&folder("deep"));
    let unread: Vec<&str> = found.unread.iter().map(|one| one.file.as_str()).collect();
    assert!(unread.contains(&"deep.py"), "{unread:?}");
    assert_eq!(found.verdict.name(), "runs", "nothing imports them");
    let found = analysed(&folder("not_text"));
    let unread: Vec<&str> = found.unread.iter().map(|one| one.file.as_str()).collect();
    assert_eq!(unread, ["odd.py"], "a file that declares its encoding is read");
}

#[test]
fn more_files_than_are_read_is_said() {
    let many = tempfile::tempdir().expect("a folder");
    let code = fs::read(folder("threads").join("skill.py")).expect("skill.py");
    fs::write(many.path().join("skill.py"), code).expect("written");
    for number in 0..350 {
        fs::write(many.path().join(format!("part_{number}.py")), format!("import json\nX = {number}\n"))
            .expect("written");
    }
    let found = analysed(many.path());
    assert_eq!(found.verdict.name(), "runs");
    assert!(found.unread.iter().any(|one| one.why.contains("more than is read")), "{:?}", found.unread.first());
}

#[test]
fn what_only_a_run_can_tell_is_said_to_be_unknown() {
    let found = analysed(&folder("dynamic_unknown"));
    let said: Vec<&str> = found.unknown.iter().map(|one| one.what.as_str()).collect();
    assert!(said.iter().any(|what| what.contains("only known at run time")), "{said:?}");
}

#[test]
fn where_numpys_integers_decide_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole_numbers");
    fs::create_dir(&path).expect("made");
    let code = "import pandas as pd\nimport numpy as np\nfrom numpy import arange\nfrom skillware.core.base_skill import BaseSkill\n\n\n\
                class S(BaseSkill):\n    manifest = {}\n    def execute(self, params):\n\
                \x20       a = np.array([1, 2])\n        b = np.array([1.5, 2])\n        c = np.array([1], dtype=np.int64)\n\
                \x20       d = arange(len(params))\n        e = pd.Series(params['x']).astype(int)\n\
                \x20       f = np.zeros(3, dtype=int) + np.zeros(3)\n        g = np.array(params['x'])\n        h = np.prod(g)\n\
                \x20       return a.sum()\n";
    fs::write(path.join("skill.py"), code).expect("written");
    fs::write(path.join("manifest.yaml"), "name: whole_numbers\nrequirements: [numpy]\n").expect("written");
    let width = analysed(&path).integer_width.expect("numpy is imported");
    assert_eq!((&*width.module, &*width.file, width.line), ("numpy", "skill.py", 2));
    let places: Vec<(u32, &str)> = width.places.iter().map(|place| (place.line, &*place.what)).collect();
    assert_eq!(places, [(10, "array"), (13, "arange"), (14, "astype(int)"), (15, "zeros(dtype=int)"), (17, "prod")]);
    fs::write(path.join("manifest.yaml"), "name: whole_numbers\nrequirements: [numpy]\nacknowledge: integer_width\n")
        .expect("written");
    assert!(analysed(&path).integer_width.is_none(), "it is acknowledged");
    fs::write(
        path.join("skill.py"),
        code.replace("import numpy as np\nfrom numpy", "from json").replace("pandas", "json"),
    )
    .expect("written");
    fs::write(path.join("manifest.yaml"), "name: whole_numbers\nrequirements: []\n").expect("written");
    assert!(analysed(&path).integer_width.is_none(), "there is no numpy");
}

/// `right` is a person's word; that nobody left a doubtful one out, and that the docs count them as they are, can be checked.
#[test]
fn every_doubtful_verdict_on_strangers_is_judged_and_the_docs_have_the_figures() {
    let read = |path: &str| fs::read_to_string(tests().join("..").join(path)).unwrap_or_else(|_| panic!("{path}"));
    let table = read("skills-compat/corpus/verdicts.tsv");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() >= 200 && rows.iter().all(|row| row.len() == 10), "{} scripts", rows.len());
    let docs = read("docs/reference/inspect.md");
    let kinds: [(&str, &[&str]); 3] = [
        ("`not in wasm`", &["not in wasm"]),
        ("`partly`", &["partly"]),
        ("`runs`, `runs with grants`", &["runs", "runs with grants"]),
    ];
    for (name, verdicts) in kinds {
        let of_kind: Vec<&Vec<&str>> = rows.iter().filter(|row| verdicts.contains(&row[4])).collect();
        let judged = of_kind.iter().filter(|row| !row[8].is_empty()).count();
        let right = of_kind.iter().filter(|row| row[8] == "yes").count();
        let line = format!("| {name} | {} | {judged} | {right} |", of_kind.len());
        assert!(docs.contains(&line), "docs/reference/inspect.md lacks `{line}`");
    }
    let is_doubtful = |row: &&Vec<&str>| !row[4].starts_with("runs") || !row[6].is_empty();
    let unjudged: Vec<&str> =
        rows.iter().filter(is_doubtful).filter(|row| row[8].is_empty()).map(|row| row[1]).collect();
    assert_eq!(unjudged, Vec::<&str>::new());
}
