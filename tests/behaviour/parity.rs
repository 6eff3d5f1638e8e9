//! A sandboxed call gives what the same call gives outside, after a JSON round trip.
//!
//! Cases are `skills-compat/parity/cases.json`, recorded by `record.py` beside it. Calls with recorded requests run against
//! servers on loopback that answer as recorded, and make the same requests. What differs is listed here with the reason, and an unexpected pass is a failure.

use std::path::Path;

use crate::common::{HOST, call, sandbox_choice};
use serde_json::json;
use skillcell::{Call, Limits, Outcome, RuntimeKind, Tier, WarmUp};
use skillcell_study::matrix::{Cases, Parity};

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
    ("office/pdf_form_filler", None),
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
];

/// Skills that run on the second runtime, by wheels that are only for that one. Where npm can't get it they are left out.
const ON_THE_SECOND: [&str; 5] = [
    "compliance/mica_module",
    "defi/evm_reader",
    "defi/evm_tx_handler",
    "office/pdf_form_filler",
    "wellness/mental_coach",
];

/// Every skill, with the package that it misses.
fn registry() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let second = HOST.runtime_unavailable(RuntimeKind::Pyodide).is_none();
    REGISTRY.iter().filter(move |(id, _)| second || !ON_THE_SECOND.contains(id)).copied()
}

#[test]
fn registry_skills_bake_unless_a_package_is_missing() {
    let mut wrong = Vec::new();
    for (id, missing) in registry() {
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
const NATIVE: [&str; 3] =
    ["creative/bg_remover", "data_engineering/novelty_extractor", "optimization/context_optimizer"];

#[test]
fn each_of_them_gets_a_tier_and_a_reason() {
    let elsewhere = [Tier::Container, Tier::Subprocess]
        .map(|tier| skillcell_tiers::available(tier, sandbox_choice()).map_err(|why| why.to_string()));
    let mut wrong = Vec::new();
    for (id, _) in registry() {
        let skill = HOST.skill(id).unwrap_or_else(|error| panic!("{id}: {error}"));
        let mut asked = Call::new(json!({}));
        asked.validate = false;
        let report = call(&skill, &asked);
        let is_refused = matches!(report.outcome, Outcome::Refused);
        let right = match (NATIVE.contains(&id), elsewhere.iter().any(Result::is_ok)) {
            (false, _) => {
                let second = report.runtime == Some(RuntimeKind::Pyodide);
                report.tier == Tier::Wasm
                    && report.tier_reason.is_none()
                    && !is_refused
                    && second == ON_THE_SECOND.contains(&id)
            }
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

/// Skills of which no call succeeds in a cell: a package or a model is missing, see [`REGISTRY`] and `not_recorded`.
const WITHOUT_SUCCESS: [&str; 4] = [
    "creative/bg_remover",
    "data_engineering/novelty_extractor",
    "data_engineering/synthetic_generator",
    "optimization/context_optimizer",
];

#[test]
fn our_cases_give_what_they_give_outside_and_every_skill_that_can_has_one_that_succeeds() {
    let parities = compare_all(&Cases::pinned(), if registry().count() == REGISTRY.len() { 95 } else { 75 });
    let without = parities.iter().filter(|(_, parity)| parity.successes_alike() == 0).map(|(id, _)| *id);
    assert_eq!(without.collect::<Vec<_>>(), WITHOUT_SUCCESS);
}

/// `SKILLCELL_PARITY_CASES=FILE cargo test --release --test behaviour parity:: -- --ignored`
#[test]
#[ignore = "takes recorded calls that are not the repository's: a file that SKILLCELL_PARITY_CASES names"]
fn cases_of_another_file_give_what_they_give_outside() {
    let path = std::env::var_os("SKILLCELL_PARITY_CASES").expect("SKILLCELL_PARITY_CASES names a file");
    compare_all(&Cases::read(Path::new(&path)).unwrap_or_else(|error| panic!("{error}")), 33);
}

/// Makes the calls of every skill; at least so many must give the same.
fn compare_all(cases: &Cases, at_least: usize) -> Vec<(&'static str, Parity)> {
    let (mut same, mut wrong, mut parities) = (0, Vec::new(), Vec::new());
    for (id, missing) in registry() {
        let skill = HOST.skill(id).unwrap_or_else(|error| panic!("{id}: {error}"));
        let parity = cases.replay_in_cells(&HOST, &skill);
        for call in &parity.calls {
            let name = format!("{id}#{}", call.case);
            let listed = DIFFERENT.iter().find(|(known, _)| *known == name).map(|(_, why)| *why);
            let expected = missing.map(|_| "a package is missing").or(listed);
            match (parity.different.iter().find(|one| one.case == call.case), expected) {
                (None, None) => same += 1,
                (None, Some(why)) => wrong.push(format!("{name} gives the same, although {why}")),
                (Some(_), Some(why)) => eprintln!("expected: {name} differs, {why}"),
                (Some(one), None) => wrong.push(format!("{name}: {}", one.reason)),
            }
        }
        parities.push((id, parity));
    }
    eprintln!("{same} calls give the same");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(same >= at_least, "only {same} calls give the same");
    parities
}
