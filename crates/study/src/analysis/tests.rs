//! Facts in, verdict out: what follows from statements, without a cell.

use serde_json::{Value, json};

use super::modules::Required;
use super::tried::Tried;
use super::{Analysis, from_facts};

/// A `skill.py` with these statements, whose class has `execute`; `torch` and `web3` are absent.
fn analysed(file: Value, required: Vec<Required>) -> Analysis {
    analysed_with(file, required, &Tried::default())
}

fn analysed_with(file: Value, required: Vec<Required>, tried: &Tried) -> Analysis {
    let mut whole = json!({
        "functions": {"Case.execute": [1, false, false], "Case.helper": [9, false, false]},
        "classes": {"Case": ["BaseSkill"]},
    });
    let fields = whole.as_object_mut().expect("an object");
    fields.extend(file.as_object().expect("an object").clone());
    let facts = json!({
        "files": {"skill.py": whole},
        "modules": {"torch": ["absent", ""], "web3": ["absent", ""], "json": ["stdlib", ""]},
    });
    from_facts(&serde_json::from_value(facts).expect("facts"), 0, required, tried)
}

fn import(module: &str, more: Value) -> Value {
    let mut made = json!({"l": 1, "m": module, "n": [], "k": "static", "to": null});
    made.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    made
}

fn verdict(file: Value) -> &'static str {
    analysed(file, Vec::new()).verdict.name()
}

#[test]
fn when_an_import_fails_decides() {
    assert_eq!(verdict(json!({"imports": [import("json", json!({}))]})), "runs");
    assert_eq!(verdict(json!({"imports": [import("torch", json!({}))]})), "not in wasm");
    assert_eq!(verdict(json!({"imports": [import("torch", json!({"k": "types"}))]})), "runs");
    let in_call = json!({"imports": [import("torch", json!({"f": "Case.execute"}))]});
    assert_eq!(verdict(in_call), "not in wasm");
    let in_branch = json!({"imports": [import("torch", json!({"f": "Case.execute", "c": [["if", 1, 0, 2]]}))]});
    assert_eq!(verdict(in_branch), "partly");
    let nobody_calls = json!({"imports": [import("torch", json!({"f": "Case.helper"}))]});
    assert_eq!(verdict(nobody_calls), "runs");
}

#[test]
fn every_branch_together_is_every_call() {
    let both = json!({"imports": [
        import("torch", json!({"f": "Case.execute", "c": [["if", 1, 0, 2]]})),
        import("web3", json!({"f": "Case.execute", "c": [["if", 1, 1, 2]]})),
    ]});
    assert_eq!(verdict(both), "not in wasm");
}

#[test]
fn how_a_handler_ends_decides() {
    let with = |ends: &str| {
        let tries = json!({"1": {"handlers": [[["ImportError"], ends]], "binds": [], "flags": [], "mends": []}});
        verdict(json!({"imports": [import("torch", json!({"g": [1]}))], "tries": tries}))
    };
    assert_eq!((with("goes on"), with("raises"), with("reports")), ("runs", "not in wasm", "not in wasm"));
    let tries = json!({"1": {"handlers": [[["OSError"], "goes on"]], "binds": [], "flags": [], "mends": []}});
    let other = json!({"imports": [import("torch", json!({"g": [1]}))], "tries": tries});
    assert_eq!(verdict(other), "not in wasm", "an ImportError is no OSError");
}

#[test]
fn a_handler_runs_only_if_its_try_fails() {
    let tries = json!({"1": {"handlers": [[["ImportError"], "goes on"]], "binds": [], "flags": [], "mends": []}});
    let first = |module: &str| {
        json!({"imports": [
            import(module, json!({"g": [1]})),
            import("web3", json!({"c": [["handler", 1, 0]]})),
        ], "tries": tries})
    };
    assert_eq!(verdict(first("json")), "runs");
    assert_eq!(verdict(first("torch")), "not in wasm");
}

#[test]
fn a_package_is_only_as_good_as_what_it_needs() {
    let required = |there: bool| {
        let one = |package: &str, chain: &[&str], there: bool| Required {
            package: package.to_owned(),
            chain: chain.iter().map(|name| (*name).to_owned()).collect(),
            there,
            native: !there,
            uninstallable: false,
            of_extra: false,
            what: String::new(),
            modules: vec![package.to_owned()],
        };
        vec![one("web3", &["web3"], true), one("ckzg", &["web3", "ckzg"], there)]
    };
    let file = || json!({"imports": [import("web3", json!({}))]});
    assert_eq!(analysed(file(), required(true)).verdict.name(), "runs");
    let lost = analysed(file(), required(false));
    assert_eq!(lost.verdict.name(), "not in wasm");
    assert!(lost.reasons[0].text.contains("web3 → ckzg"), "{}", lost.reasons[0].text);
}

#[test]
fn what_nobody_can_install_no_tier_runs() {
    let required = |uninstallable: bool| Required {
        package: "torch".to_owned(),
        chain: vec!["torch".to_owned()],
        there: false,
        native: !uninstallable,
        uninstallable,
        of_extra: false,
        what: "1.0, only as source that has to be built".to_owned(),
        modules: vec!["torch".to_owned()],
    };
    let file = || json!({"imports": [import("torch", json!({}))]});
    assert_eq!(analysed(file(), vec![required(false)]).best_tier.name(), "subprocess");
    let found = analysed(file(), vec![required(true)]);
    assert_eq!((found.verdict.name(), found.best_tier.name()), ("not in wasm", "none"));
    assert!(found.reasons[0].text.contains("only as source"), "{}", found.reasons[0].text);
}

#[test]
fn a_requirement_under_another_name_is_not_called_missing() {
    let required = |package: &str| Required {
        package: package.to_owned(),
        chain: vec![package.to_owned()],
        there: false,
        native: true,
        uninstallable: false,
        of_extra: false,
        what: String::new(),
        // A guess: nobody unpacked it.
        modules: vec![package.to_lowercase()],
    };
    let why = |package: &str| {
        let found = analysed(json!({"imports": [import("torch.nn", json!({}))]}), vec![required(package)]);
        found.reasons[0].text.contains("not in the manifest's requirements")
    };
    assert_eq!((why("PyTorch"), why("unrelated")), (false, true));
}

#[test]
fn a_module_below_another_may_be_the_package_that_is_missing() {
    let one = |package: &str, chain: &[&str], there: bool| Required {
        package: package.to_owned(),
        chain: chain.iter().map(|name| (*name).to_owned()).collect(),
        there,
        native: !there,
        uninstallable: false,
        of_extra: false,
        what: String::new(),
        modules: vec![package.replace('-', "_")],
    };
    let required = vec![one("web3", &["web3"], true), one("web3-core", &["web3", "web3-core"], false)];
    let failed = json!({"failed": {"web3.core": {"kind": "import", "text": "No module", "missing": "web3.core"}}});
    let tried: Tried = serde_json::from_value(failed).expect("as the guest reports it");
    let found = analysed_with(json!({"imports": [import("web3.core", json!({}))]}), required, &tried);
    assert!(found.reasons[0].text.contains("native code (through web3 → web3-core)"), "{}", found.reasons[0].text);
}

#[test]
fn a_package_that_asks_a_host_when_it_is_imported_needs_that_granted() {
    let failed = json!({"failed": {"torch": {"kind": "os", "text": "denied", "asks": "api.example.org"}}});
    let found = |function: &str| {
        let file = json!({
            "functions": {"Case.execute": [1, false, false]}, "classes": {"Case": ["BaseSkill"]},
            "imports": [import("torch", json!({"f": function}))],
        });
        let facts = json!({"files": {"skill.py": file}, "modules": {"torch": ["package", ""]}});
        let tried = super::tried::read(Some(failed.clone()));
        from_facts(&serde_json::from_value(facts).expect("facts"), 0, Vec::new(), &tried)
    };
    let in_call = found("Case.execute");
    assert_eq!(in_call.verdict.name(), "runs with grants");
    assert_eq!(in_call.permissions.value["network"], json!(["GET,POST https://api.example.org/*"]));
    assert_eq!(found("").verdict.name(), "not in wasm", "nothing is granted at import");
}

#[test]
fn packages_that_no_cell_can_be_given_are_a_reason() {
    let facts = json!({
        "files": {"skill.py": {"classes": {"Case": ["BaseSkill"]}, "imports": [import("gget", json!({}))]}},
        "modules": {"gget": ["absent", ""]}, "manifest": {"requirements": ["gget"]},
    });
    let facts: super::Facts = serde_json::from_value(facts).expect("facts");
    let required = super::requirements::listed(&facts.manifest());
    let wanted = super::tried::wanted(&facts, &super::Modules::new(&facts, &required, &Tried::default()));
    let tried = super::tried::none_of(&wanted.expect("gget"), "`gget/bin` is larger than 64 MiB");
    let found = from_facts(&facts, 0, required, &tried);
    assert_eq!(found.verdict.name(), "not in wasm");
    assert!(found.reasons[0].text.contains("larger than 64 MiB"), "{}", found.reasons[0].text);
}

#[test]
fn packages_that_were_tried_to_no_end_are_said_to_be_unknown() {
    let facts =
        || serde_json::from_value(json!({"files": {"skill.py": {"classes": {"Case": ["BaseSkill"]}}}})).expect("facts");
    let unknown =
        |report: Option<Value>| from_facts(&facts(), 0, Vec::new(), &super::tried::read(report)).unknown.len();
    assert_eq!((unknown(Some(json!({}))), unknown(None)), (0, 1));
}

#[test]
fn no_isolated_tier_is_named_for_what_none_has() {
    let call = |name: &str, more: Value| {
        let mut call = json!({"l": 5, "f": "Case.execute", "d": name});
        call.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        analysed(json!({"calls": [call]}), Vec::new()).best_tier.name()
    };
    assert_eq!(call("imaplib.IMAP4_SSL", json!({})), "none", "another protocol than HTTP");
    assert_eq!(call("open", json!({"t": [[], ["w"]], "p": ["own"]})), "none", "its own folder is read-only everywhere");
    assert_eq!(call("subprocess.run", json!({})), "container");
    let unlisted = json!({"imports": [import("torch", json!({}))]});
    assert_eq!(analysed(unlisted, Vec::new()).best_tier.name(), "none", "no tier installs what is not required");
}

#[test]
fn a_function_that_calls_itself_is_no_loop_for_us() {
    let edge = json!({"l": 3, "f": "Case.helper", "to": "skill.py", "fn": "Case.helper", "s": true});
    let call = json!({"l": 2, "f": "Case.execute", "to": "skill.py", "fn": "Case.helper", "s": true});
    let file = json!({"edges": [edge, call], "imports": [import("torch", json!({"f": "Case.helper"}))]});
    assert_eq!(verdict(file), "not in wasm");
}

#[test]
fn a_file_that_was_not_read_is_a_reason_only_if_it_is_imported() {
    let facts = |unread: &str, imports: Value| {
        let file = json!({"imports": imports, "classes": {"Case": ["BaseSkill"]}});
        json!({"files": {"skill.py": file}, "unread": [[unread, 3, "SyntaxError"]]})
    };
    let decided = |facts: Value| {
        from_facts(&serde_json::from_value(facts).expect("facts"), 0, Vec::new(), &Tried::default()).verdict.name()
    };
    assert_eq!(decided(facts("other.py", json!([]))), "runs");
    assert_eq!(decided(facts("other.py", json!([import("other", json!({"to": ["other.py"]}))]))), "not in wasm");
    assert_eq!(decided(json!({"unread": [["skill.py", 0, "odd"]]})), "not in wasm");
}

#[test]
fn an_object_that_is_told_to_fetch_an_address_makes_requests_whatever_it_is() {
    let call = |name: &str| {
        let call = json!({"l": 5, "f": "Case.execute", "d": name, "t": [["https://graph.example.com/me"]]});
        let found = analysed(json!({"calls": [call]}), Vec::new());
        (found.verdict.name(), found.permissions.value["network"][0].clone())
    };
    assert_eq!(call("oauth.Session.get"), ("runs with grants", json!("GET,HEAD https://graph.example.com/me")));
    assert_eq!(call("oauth.Session.describe").0, "runs");
}
