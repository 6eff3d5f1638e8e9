use super::super::model::{
    Counts, Difference, InPyodide, Matrix, Package, Parity, Pyodide, Reason, Row, SCHEMA, Suite, Tests,
};
use super::*;

/// A skill all of whose words are hostile.
fn hostile() -> Matrix {
    let evil = || "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202e}&amp;".to_owned();
    let row = Row {
        id: evil(),
        version: Some(evil()),
        summary: Some(evil()),
        digest: String::new(),
        classes: vec![evil()],
        verdict: Some("partly".into()),
        best_tier: Some(evil()),
        reasons: vec![Reason { what: evil(), at: Some(evil()) }],
        optional: vec![Reason { what: evil(), at: None }],
        permissions: Some(evil()),
        packages: vec![Package {
            name: evil(),
            how: evil(),
            is_there: false,
            version: Some(evil()),
            chain: vec![evil()],
            detail: evil(),
        }],
        tests: Tests {
            cells: Suite::Ran(Counts { passed: 1, failed: 1, ..Counts::default() }),
            native: Suite::not_run(evil()),
            pyodide: Suite::Ran(Counts { passed: 1, failed: 1, ..Counts::default() }),
            differences: vec![Difference { test: evil(), cells: evil(), native: Some(evil()), reason: evil() }],
            pyodide_differences: vec![InPyodide {
                test: evil(),
                pyodide: evil(),
                native: Some(evil()),
                reason: evil(),
            }],
        },
        parity: Parity {
            cases: 1,
            same: 0,
            different: vec![super::super::model::CaseDifference { case: evil(), reason: evil() }],
            left_out: Vec::new(),
        },
        pyodide: Pyodide { not_looked_up: Some(evil()), packages: Vec::new() },
        problem: Some(evil()),
    };
    let mut matrix = Matrix {
        schema: SCHEMA,
        registry: super::super::model::Registry { name: evil(), version: Some(evil()), sha256: None },
        runtime: evil(),
        native_python: Some(evil()),
        pyodide: evil(),
        totals: Default::default(),
        skills: vec![row],
        figures: Default::default(),
    };
    matrix.figures.machine = evil();
    matrix
        .figures
        .skills
        .insert(evil(), super::super::model::SkillFigures { call: Some(evil()), ..Default::default() });
    matrix.count();
    matrix
}

#[test]
fn a_strangers_text_is_never_markup() {
    let html = page(&hostile());
    // One script: ours. A tag can't begin, and a quoted attribute can't end.
    assert_eq!(html.matches("<script").count(), 1);
    assert!(!html.contains("<img") && !html.contains("\"'>") && !html.contains('\u{202e}'), "{html}");
    assert!(html.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let html = page(&hostile());
    for outside in ["http://", "https://", "src=\"", "@import", "url("] {
        assert!(!html.replace("src=x", "").contains(outside), "{outside}");
    }
}

#[test]
fn the_policy_names_the_script_and_the_style() {
    let html = page(&hostile());
    assert!(html.contains(&source(SCRIPT)) && html.contains(&source(STYLE)));
    assert!(!html.contains("unsafe-inline") && !html.contains(" style="));
}
