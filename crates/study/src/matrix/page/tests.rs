use super::super::cases::Ending;
use super::super::model::{
    Counts, Difference, Matrix, Package, Parity, Pyodide, PyodideDifference, Reason, RecordedCall, Row, SCHEMA,
    ScriptRow, ScriptRun, Suite, Tests,
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
        likely_tier: Some(evil()),
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
            pyodide_differences: vec![PyodideDifference {
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
            calls: vec![RecordedCall { case: evil(), ends: Ending::Succeeds, requests: 1 }],
            left_out: vec![super::super::model::CaseDifference { case: evil(), reason: evil() }],
        },
        pyodide: Pyodide { not_looked_up: Some(evil()), packages: Vec::new() },
        scripts: vec![ScriptRow {
            script: evil(),
            verdict: Some(evil()),
            kind: evil(),
            lacks: vec![evil()],
            programs: vec![evil()],
            usage: Some(ScriptRun {
                case: evil(),
                cell: evil(),
                same: Some(false),
                reason: evil(),
                ..ScriptRun::default()
            }),
            problem: Some(evil()),
            ..ScriptRow::default()
        }],
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
    matrix.count_totals();
    matrix
}

#[test]
fn a_strangers_text_is_never_markup() {
    let html = render_page(&hostile());
    // One script: ours. A tag can't begin, and a quoted attribute can't end.
    assert_eq!(html.matches("<script").count(), 1);
    assert!(!html.contains("<img") && !html.contains("\"'>") && !html.contains('\u{202e}'), "{html}");
    assert!(html.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let html = render_page(&hostile());
    for outside in ["http://", "https://", "src=\"", "@import", "url("] {
        assert!(!html.replace("src=x", "").contains(outside), "{outside}");
    }
}

#[test]
fn the_policy_names_the_script_and_the_style() {
    let html = render_page(&hostile());
    for text in [SCRIPT, STYLE] {
        assert!(html.contains(&csp_hash(text)) && html.contains(text), "named, and as it is");
    }
    assert!(!html.contains("unsafe-inline") && !html.contains(" style="));
}

#[test]
fn a_skills_name_leads_to_its_row() {
    let mut matrix = super::super::model::tests_support::empty();
    matrix.skills = vec![
        super::super::model::tests_support::row("office/mail", "runs"),
        super::super::model::tests_support::row("a b\"<", "partly"),
    ];
    matrix.count_totals();
    let html = render_page(&matrix);
    for anchor in ["skill-office/mail", "row-1"] {
        assert!(html.contains(&format!("<a href=\"#{anchor}\">")), "{anchor} is linked");
        assert!(html.contains(&format!("<tr class=\"skill\" id=\"{anchor}\"")), "{anchor} is a row");
    }
}

#[test]
fn a_tier_in_which_no_tests_ran_has_no_name() {
    let mut matrix = super::super::model::tests_support::empty();
    matrix.skills = vec![super::super::model::tests_support::row("a/elsewhere", "not in wasm")];
    matrix.skills[0].likely_tier = Some("subprocess".into());
    matrix.count_totals();
    let html = render_page(&matrix);
    let cell = html.split("data-label=\"Best tier\"").nth(1).and_then(|rest| rest.split("</td>").next());
    assert!(cell.is_some_and(|cell| cell.contains(">not tried<")), "{cell:?}");
    assert!(html.contains("Best tier: <b>not tried</b>") && !html.contains("<b>subprocess</b>"));
}

/// The keys of a column, in the order of the rows.
fn keys(html: &str, label: &str) -> Vec<String> {
    let cells = html.split("data-key=\"").skip(1).filter(|cell| cell.contains(&format!("data-label=\"{label}\"")));
    cells
        .filter_map(|cell| cell.split_once('"'))
        .filter(|(_, rest)| rest.starts_with(&format!(" data-label=\"{label}\"")))
        .map(|(key, _)| key.to_owned())
        .collect()
}

#[test]
fn a_column_sorts_by_the_number_that_it_shows_and_nothing_has_no_key() {
    let mut matrix = super::super::model::tests_support::empty();
    for (id, passed, failed) in [("a/all", 2, 0), ("a/some", 30, 1), ("a/more", 30, 0)] {
        let mut row = super::super::model::tests_support::row(id, "runs");
        row.tests.cells = Suite::Ran(Counts { passed, failed, ..Counts::default() });
        matrix.skills.push(row);
    }
    matrix.skills.push(super::super::model::tests_support::row("a/none", "runs"));
    matrix.count_totals();
    let html = render_page(&matrix);
    let tests: Vec<f64> = keys(&html, "Tests in cells").iter().filter_map(|key| key.parse().ok()).collect();
    assert!(tests.len() == 3 && tests[0] < tests[1] && tests[1] < tests[2], "{tests:?}");
    for label in ["Tests in cells", "Call", "Calls alike", "Best tier"] {
        assert_eq!(keys(&html, label).last().map(String::as_str), Some(""), "{label}");
    }
}

#[test]
fn numbers_sort_by_number_and_nothing_is_last_in_either_order() {
    let function = SCRIPT.split_once("function compareKeys").expect("it is there").1;
    let function = function.split_once("\n}\n").expect("it ends").0;
    let sorted = |numeric: bool, sign: i32| {
        let program = format!(
            "function compareKeys{function}\n}}\n\
             console.log(['', '9', '-1', '10', ''].sort((a, b) => compareKeys(a, b, {numeric}, {sign})).join());"
        );
        std::process::Command::new("node").args(["-e", &program]).output()
    };
    if sorted(true, 1).is_err() {
        eprintln!("skipped: there is no node");
        return;
    }
    for (numeric, sign, expected) in [(true, 1, "-1,9,10,,"), (true, -1, "10,9,-1,,"), (false, -1, "9,10,-1,,")] {
        let output = sorted(numeric, sign).expect("node starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{output:?}");
    }
}

#[test]
fn scripts_that_were_compared_are_counted_at_the_top() {
    let mut matrix = hostile();
    let usage = |same| Some(ScriptRun { same, ..ScriptRun::default() });
    let script = |same| ScriptRow { verdict: Some("runs".into()), usage: usage(same), ..ScriptRow::default() };
    matrix.skills[0].scripts = vec![script(None)];
    matrix.count_totals();
    assert!(!render_page(&matrix).contains("Their scripts"), "nothing was compared");
    matrix.skills[0].scripts = vec![script(Some(true)), script(Some(false)), script(None)];
    matrix.count_totals();
    let page = render_page(&matrix);
    assert!(page.contains("1 <small>of 2</small>") && page.contains("Of 3 scripts 3 have a command line"), "{page}");
}
