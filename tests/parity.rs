//! A sandboxed call gives what the same call gives outside, after a JSON round trip.
//!
//! Cases are `skills-compat/parity/cases.json`, recorded by `record.py` beside it, and `../shared/parity/cases.json` where
//! there is such a file. Cases with recorded requests run against servers on loopback that answer as recorded, and make
//! the same requests. What can't run yet is listed here with the reason, and an unexpected pass is a failure.

mod common;
#[path = "parity/recorded.rs"]
mod recorded;
#[path = "common/web.rs"]
mod web;

use std::fs;
use std::path::{Path, PathBuf};

use common::{HOST, call, raised, returned, tests};
use recorded::Recorded;
use serde_json::{Map, Value, json};
use skillcell::{Call, Choice, Host, Limits, Outcome, Report, Skill, Tier, WarmUp, tier};

/// Every skill of the pinned registry, with the package that it can't be imported without and a cell does not have.
const REGISTRY: &[(&str, Option<&str>)] = &[
    ("bio/sequence_ops", None),
    ("compliance/mica_module", None),
    ("compliance/pii_masker", None),
    ("compliance/tos_evaluator", None),
    ("creative/bg_remover", None),
    ("creative/deck_builder", None),
    ("data_engineering/novelty_extractor", Some("onnxruntime")),
    ("data_engineering/semantic_web_proxy", None),
    ("data_engineering/synthetic_generator", None),
    ("data_engineering/telemetry_normalizer", None),
    ("defi/evm_reader", None),
    ("defi/evm_tx_handler", None),
    ("defi/token_security_scanner", None),
    ("dev_tools/issue_resolver", None),
    ("finance/uk_companies_house_handler", None),
    ("finance/wallet_screening", None),
    ("linguistics/korean_slang", None),
    ("monitoring/kpi_gate", None),
    ("monitoring/token_limiter", None),
    ("office/gmail_handler", None),
    ("office/pdf_form_filler", Some("fitz")),
    ("office/web_form_mapper", None),
    ("optimization/context_optimizer", Some("onnxruntime")),
    ("optimization/prompt_rewriter", None),
    ("security/deceptive_ui_guard", None),
    ("security/deepfake_guard", None),
    ("security/prompt_injection_firewall", None),
    ("wellness/mental_coach", None),
];

/// Cases of skills that bake, where the skill itself asks for more during the call.
const DIFFERENT: &[(&str, &str)] = &[
    ("creative/bg_remover#bad_base64", "imports rembg in the call"),
    ("creative/bg_remover#nothing_given", "imports rembg in the call"),
    ("creative/bg_remover#no_such_file", "imports rembg in the call"),
    ("defi/evm_reader#no_rpc", "recurses without end: outside it catches that, a cell is ended by it"),
];

#[test]
fn registry_skills_bake_unless_a_package_is_missing() {
    let mut wrong = Vec::new();
    for (id, missing) in REGISTRY {
        let skill = HOST.skill(id).unwrap_or_else(|error| panic!("{id}: {error}"));
        let built = HOST.build(&skill, &WarmUp::Manifest, &Limits::default()).map_err(|error| error.to_string());
        match (built, missing) {
            (Ok(_), None) => {}
            (Ok(_), Some(package)) => wrong.push(format!("{id} bakes without `{package}`: take it off the list")),
            (Err(error), Some(package)) if error.contains(&format!("Missing module: {package} ")) => {}
            (Err(error), _) => wrong.push(format!("{id}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Those that do more where a native package is. Each gets an environment, the largest of which takes a minute to make.
const NATIVE: [&str; 4] = [
    "creative/bg_remover",
    "data_engineering/novelty_extractor",
    "office/pdf_form_filler",
    "optimization/context_optimizer",
];

#[test]
fn each_of_them_gets_a_tier_and_a_reason() {
    let elsewhere =
        [Tier::Container, Tier::Subprocess].map(|tier| tier::available(tier).map_err(|why| why.to_string()));
    let mut wrong = Vec::new();
    for (id, _) in REGISTRY {
        let skill = HOST.skill(id).unwrap_or_else(|error| panic!("{id}: {error}"));
        let mut asked = Call::new(json!({}));
        asked.validate = false;
        let report = call(&skill, &asked);
        let is_refused = matches!(report.outcome, Outcome::Refused);
        let right = match (NATIVE.contains(id), elsewhere.iter().any(Result::is_ok)) {
            (false, _) => report.tier == Tier::Wasm && report.tier_reason.is_none() && !is_refused,
            (true, true) => report.tier > Tier::Wasm && report.tier.is_isolated() && report.tier_reason.is_some(),
            // What can be imported does what it can.
            (true, false) => is_refused || report.tier == Tier::Wasm,
        };
        if !right {
            wrong.push(format!("{id}: {:?} {:?} {:?}", report.tier, report.tier_reason, report.denials));
        }
    }
    assert!(wrong.is_empty(), "{elsewhere:?}\n{}", wrong.join("\n"));
}

#[test]
fn our_cases_give_what_they_give_outside() {
    compare_all(&tests().join("../skills-compat/parity/cases.json"), 30);
}

#[test]
fn shared_cases_give_what_they_give_outside() {
    if let Some(path) = shared_cases() {
        compare_all(&path, 33);
    }
}

fn shared_cases() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/parity/cases.json");
    // A clone elsewhere can name the file.
    let path = std::env::var_os("SKILLCELL_PARITY_CASES").map_or(path, PathBuf::from);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("skipped: there is no {}", path.display());
    None
}

/// Runs the cases of a file; at least so many must be of the kind that runs here.
fn compare_all(path: &Path, at_least: usize) {
    let cases = fs::read_to_string(path).expect("readable");
    let cases: Vec<Value> = serde_json::from_str(&fill_in(&cases)).expect("a list of cases");
    let (mut same, mut wrong) = (0, Vec::new());
    for case in &cases {
        let id = case["id"].as_str().expect("a case has an id");
        if let Some(why) = out_of_reach(case) {
            eprintln!("skipped: {id} {why}");
            continue;
        }
        match (compare(case), reason(id)) {
            (Ok(()), None) => same += 1,
            (Ok(()), Some(why)) => wrong.push(format!("{id} gives the same, although: {why}")),
            (Err(_), Some(why)) => eprintln!("expected: {id} differs, {why}"),
            (Err(difference), None) => wrong.push(format!("{id}: {difference}")),
        }
    }
    eprintln!("{same} of {} cases give the same", cases.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(same >= at_least, "only {same} cases ran");
}

/// The cell's own places, for those of the machine where a case was recorded.
fn fill_in(text: &str) -> String {
    text.replace("{{HOME}}", "/home/skill").replace("{{WORK}}", "/tmp").replace("{{SKILLS}}", "/skills")
}

fn out_of_reach(case: &Value) -> Option<&'static str> {
    let given = |key: &str| case[key].as_object().is_some_and(|map| !map.is_empty());
    match case["kind"].as_str() {
        Some("offline") if given("files") => Some("needs a mount"),
        Some("offline" | "http_mock") => None,
        _ => Some("is of a kind that is not known here"),
    }
}

fn reason(id: &str) -> Option<String> {
    let skill = id.split('#').next().unwrap_or(id);
    let listed = REGISTRY.iter().find(|(name, _)| *name == skill);
    let missing = listed.and_then(|(_, missing)| *missing).map(|package| format!("`{package}` is missing"));
    missing.or_else(|| DIFFERENT.iter().find(|(name, _)| *name == id).map(|(_, why)| (*why).to_owned()))
}

fn compare(case: &Value) -> Result<(), String> {
    if case["kind"] != "http_mock" {
        return compare_with(case, &HOST, in_a_cell(case), call);
    }
    let recorded = Recorded::start(case);
    let mut granted = in_a_cell(case);
    granted.grants = recorded.grants.clone();
    compare_with(case, &recorded.host, granted, |skill, call| {
        let report = recorded.host.call(skill, call).unwrap_or_else(|error| panic!("{}: {error}", skill.id()));
        assert!(report.denials.is_empty(), "{}: {:?}", skill.id(), report.denials);
        report
    })?;
    same(&recorded.requests(), &recorded::expected_requests(case))
}

fn compare_with(
    case: &Value,
    host: &Host,
    mut plain: Call,
    call: impl Fn(&Skill, &Call) -> Report,
) -> Result<(), String> {
    let skill = host.skill(case["skill"].as_str().expect("a case has a skill")).map_err(|error| error.to_string())?;
    plain.config = case.get("config").cloned();
    for (name, value) in case["env"].as_object().unwrap_or(&Map::new()) {
        plain.env.insert(name.clone(), value.as_str().unwrap_or_default().to_owned());
    }
    if let Some(invalid) = case["validate_params"].as_str() {
        let error = raised(call(&skill, &plain))?;
        same(&Value::from(named(&error.kind, &error.message)), &Value::from(invalid))?;
        plain.validate = false;
    }
    let report = call(&skill, &plain);
    match case.get("raises") {
        Some(expected) => {
            let error = raised(report)?;
            same(&Value::from(named(&error.kind, &error.message)), &Value::from(expected_name(expected)))
        }
        None => same_but_for(returned(report)?, case["expected"].clone(), &case["nondeterministic"]),
    }
}

/// `ValueError: text`, the class without its module.
fn named(kind: &str, message: &str) -> String {
    format!("{}: {message}", kind.rsplit('.').next().unwrap_or(kind))
}

fn expected_name(raises: &Value) -> String {
    named(raises["type"].as_str().unwrap_or_default(), raises["message"].as_str().unwrap_or_default())
}

/// Compares all but what `pointers` name: a value that changes must be there, a list whose order changes is sorted.
fn same_but_for(mut got: Value, mut expected: Value, pointers: &Value) -> Result<(), String> {
    for pointer in pointers.as_array().unwrap_or(&Vec::new()).iter().filter_map(Value::as_str) {
        for side in [&mut got, &mut expected] {
            let (parent, _) = pointer.rsplit_once('/').unwrap_or_default();
            match side.pointer_mut(parent) {
                Some(Value::Array(items)) => items.sort_by_key(Value::to_string),
                _ => *side.pointer_mut(pointer).ok_or_else(|| format!("there is no {pointer}"))? = Value::Null,
            }
        }
    }
    same(&got, &expected)
}

fn same(got: &Value, expected: &Value) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("\n  got      {got}\n  expected {expected}")) }
}

/// These are about cells; what a cell can't do is not to be done elsewhere.
fn in_a_cell(case: &Value) -> Call {
    let mut call = Call::new(case["params"].clone());
    call.tier = Choice::Tier(Tier::Wasm);
    call
}
