use super::super::model::tests_support::{empty, row};
use super::super::model::{CaseDifference, Counts, Difference, Package, Suite};
use super::*;

fn expectations(text: &str) -> Expectations {
    Expectations::parse(&format!("schema = 1\n{text}")).unwrap()
}

fn failing(passed: usize, fails: &[&str]) -> Matrix {
    let mut skill = row("a/b", "partly");
    skill.tests.cells = Suite::Ran(Counts { passed, failed: fails.len(), ..Counts::default() });
    let difference = |test: &&str| Difference {
        test: (*test).to_owned(),
        cells: "failed".into(),
        native: Some("passed".into()),
        reason: "ImportError: x".into(),
    };
    skill.tests.differences = fails.iter().map(difference).collect();
    skill.packages = vec![Package {
        name: "x".into(),
        how: "native only".into(),
        is_there: false,
        version: None,
        chain: vec!["x".into()],
        detail: String::new(),
    }];
    let mut matrix = empty();
    matrix.skills.push(skill);
    matrix
}

const EXPECTED: &str = "[skills.\"a/b\"]\nverdict = \"partly\"\npassed = 3\nmissing = [\"x\"]\n\
                        [[skills.\"a/b\".fails]]\ntests = \"t.py::test_x*\"\ncount = 2\nreason = \"no x\"\n";

#[test]
fn what_is_expected_is_no_difference() {
    assert!(expectations(EXPECTED).differences(&failing(3, &["t.py::test_x1", "t.py::test_x2"]), true).is_empty());
}

#[test]
fn a_difference_in_either_direction_is_found() {
    let expected = expectations(EXPECTED);
    let found = |matrix: Matrix| expected.differences(&matrix, true).join("\n");
    assert!(found(failing(2, &["t.py::test_x1", "t.py::test_x2", "t.py::other"])).contains("`t.py::other` fails"));
    assert!(found(failing(4, &["t.py::test_x1"])).contains("1 tests fail in cells, expected were 2"));
    let mut better = failing(3, &["t.py::test_x1", "t.py::test_x2"]);
    better.skills[0].verdict = Some("runs".into());
    better.skills[0].packages.clear();
    better.skills[0].parity.different = vec![CaseDifference { case: "c".into(), reason: "r".into() }];
    let text = found(better);
    assert!(
        text.contains("the verdict is `runs`") && text.contains("expected to be missing in a cell, and is there"),
        "{text}"
    );
    assert!(text.contains("the call `c` fails"), "{text}");
}

#[test]
fn skills_that_are_missing_on_either_side_are_differences() {
    let text = expectations(EXPECTED).differences(&empty(), true).join("\n");
    assert!(text.contains("a/b: it is expected and not there"));
    assert!(expectations(EXPECTED).differences(&empty(), false).is_empty());
    assert_eq!(expectations("[skills]").differences(&failing(3, &[]), true), ["a/b: nothing is expected of it"]);
}

#[test]
fn a_failure_needs_a_reason_and_a_key_that_is_known() {
    assert!(Expectations::parse(&format!("schema = 1\n{}", EXPECTED.replace("no x", " "))).is_err());
    assert!(Expectations::parse(&format!("schema = 1\n{}", EXPECTED.replace("passed", "pased"))).is_err());
    assert!(Expectations::parse("schema = 2\n[skills]").is_err());
}
