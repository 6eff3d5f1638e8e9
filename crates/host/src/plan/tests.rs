//! Properties of plans: no tier that policy forbids, narrowing never widens, every refusal has a way out or says that
//! there is none; and the cases that each rule is for.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use super::*;
use crate::session::{Session, SessionLimits};
use skillcell_packages::{Package, PackageStatus, Packages};
use skillcell_policy::{Choice, HttpRule, TierRules};

/// A machine that lacks some tiers, and may lack the second runtime.
struct Lacking(Vec<Tier>, bool);

impl MachineFacts for Lacking {
    fn unavailable(&self, tier: Tier) -> Option<String> {
        self.0.contains(&tier).then(|| format!("the tier `{tier}` is not available on this machine: nothing is there"))
    }

    fn runtime_unavailable(&self, kind: RuntimeKind) -> Option<(String, String)> {
        let lacks = self.1 && kind == RuntimeKind::Pyodide;
        lacks.then(|| ("npm was not found".to_owned(), "fetch it elsewhere".to_owned()))
    }

    fn mount_denial(&self, _: Tier, _: &[MountGrant]) -> Option<Denial> {
        None
    }
}

/// Everything that a plan is made of, to be varied.
#[derive(Debug, Clone)]
struct Case {
    vouched: Vouched,
    approved_tiers: Option<Vec<Tier>>,
    manifest: Value,
    choice: Choice,
    rules: TierRules,
    trust: bool,
    fuel: bool,
    session: bool,
    native: bool,
    dockerfile: bool,
    missing_module: bool,
    early_import: bool,
    unprepared: Vec<Tier>,
    lacking: Vec<Tier>,
    granted: Vec<&'static str>,
    runtimes: Runtimes,
}

/// What decides about the runtime.
#[derive(Debug, Clone, Default)]
struct Runtimes {
    named: Option<RuntimeKind>,
    only_second: bool,
    only_first: bool,
    second_lacking: bool,
    unresolved: bool,
    failed: Vec<RuntimeKind>,
}

const RULES: [&str; 4] =
    ["GET https://a.test/*", "* https://a.test/v1/*", "POST https://b.test/*", "GET https://*.c.test/*"];

impl Case {
    fn call(&self) -> Call {
        let mut call = Call::default();
        call.tier = self.choice;
        call.tiers = self.rules.clone();
        call.trust_remote_code = self.trust;
        call.limits.fuel = self.fuel.then_some(1);
        call.session = self.session.then(|| Session::new(SessionLimits::default()));
        call.grants.http.allow = self.granted.iter().map(|rule| HttpRule::parse(rule).unwrap()).collect();
        call
    }

    fn plan(&self) -> Result<Plan, Refused> {
        let manifest = Manifest::read(self.manifest.clone()).unwrap();
        let (permissions, mut early_imports) = (Permissions::default(), BTreeMap::new());
        if self.early_import {
            early_imports.insert("subprocess".to_owned(), "skill.py:1".to_owned());
        }
        let missing = MissingModule { module: "onnxruntime".into(), why: None };
        let missing = |runtime| RuledOut { tier: Tier::Wasm, runtime, why: WhyNot::Missing(missing.clone()) };
        let failed = self.runtimes.failed.iter().map(|kind| missing(Some(*kind)));
        let unprepared = self.unprepared.iter().map(|tier| RuledOut {
            tier: *tier,
            runtime: None,
            why: WhyNot::Unprepared { message: "it can't be pulled".into(), hint: None },
        });
        let native = || RuntimeNeeds::of_native("fastembed → onnxruntime");
        let needs = RuntimeNeeds {
            only_second: chain_if(self.runtimes.only_second, "pydantic → pydantic-core"),
            only_first: chain_if(self.runtimes.only_first, "numpy"),
            ..if self.native { native() } else { RuntimeNeeds::default() }
        };
        let facts = SkillFacts {
            id: "a/b",
            vouched: self.vouched,
            approval: self.approved_tiers.as_ref().map(|tiers| ApprovedAs { permissions: &permissions, tiers }),
            approve_command: Some("skillcell approve a/b".into()),
            has_dockerfile: self.dockerfile,
            early_imports: &early_imports,
            needs: &needs,
            unresolved: self.runtimes.unresolved.then_some("the skill's lock has no packages for it"),
            named_runtime: self.runtimes.named,
            ruled_out: unprepared.chain(self.missing_module.then(|| missing(None))).chain(failed).collect(),
        };
        plan_call(&facts, &manifest, &self.call(), &Lacking(self.lacking.clone(), self.runtimes.second_lacking))
    }

    /// Whether policy lets a call of this case be made in a tier at all.
    fn policy_allows(&self, tier: Tier) -> bool {
        let named = self.approved_tiers.as_ref().is_some_and(|tiers| tiers.contains(&tier));
        let asked = named || self.choice == Choice::Isolated || self.choice == Choice::Tier(tier);
        let trusted = self.trust || named;
        let fits = !(self.fuel || self.session) || tier == Tier::Wasm;
        fits && self.rules.decide(tier, self.vouched, asked || tier == Tier::Wasm, trusted).is_ok()
    }
}

fn chain_if(wanted: bool, chain: &str) -> Vec<String> {
    wanted.then(|| chain.to_owned()).into_iter().collect()
}

fn maybe_runtime() -> impl Strategy<Value = Option<RuntimeKind>> {
    prop_oneof![3 => Just(None), 1 => select(RuntimeKind::ALL.to_vec()).prop_map(Some)]
}

prop_compose! {
    fn runtimes()(
        named in maybe_runtime(),
        flags in any::<[bool; 4]>(),
        failed in subsequence(RuntimeKind::ALL.to_vec(), 0..=2),
    ) -> Runtimes {
        let [only_second, only_first, second_lacking, unresolved] = flags;
        Runtimes { named, only_second, only_first, second_lacking, unresolved, failed }
    }
}

fn tiers() -> impl Strategy<Value = Vec<Tier>> {
    subsequence(Tier::ALL.to_vec(), 0..=4)
}

fn maybe_tiers() -> impl Strategy<Value = Option<Vec<Tier>>> {
    prop_oneof![2 => Just(None), 1 => tiers().prop_map(Some)]
}

fn manifests() -> impl Strategy<Value = Value> {
    let executions = ["auto", "isolated", "wasm", "container", "subprocess", "in_process"].map(|wish| json!(wish));
    let execution = prop_oneof![2 => Just(Value::Null), 1 => select(executions.to_vec())];
    let permissions = prop_oneof![
        Just(Value::Null),
        Just(json!({})),
        Just(json!({"network": [{"url": "https://a.test/*", "methods": ["GET"]}]})),
    ];
    let runtime = prop_oneof![3 => Just(Value::Null), 1 => select(vec![json!("wasi-python"), json!("pyodide")])];
    (execution, permissions, runtime).prop_map(|(execution, permissions, runtime)| {
        json!({
            "name": "b", "requirements": ["x"], "execution": execution, "permissions": permissions, "runtime": runtime,
        })
    })
}

fn choices() -> impl Strategy<Value = Choice> {
    let named = select(Tier::ALL.to_vec()).prop_map(Choice::Tier);
    prop_oneof![3 => Just(Choice::Auto), 1 => Just(Choice::Isolated), 2 => named]
}

prop_compose! {
    fn cases()(
        vouched in select(vec![Vouched::Bundled, Vouched::Approved, Vouched::Unknown]),
        approved in maybe_tiers(),
        manifest in manifests(),
        choice in choices(),
        bundled in maybe_tiers(),
        listed in maybe_tiers(),
        unknown in maybe_tiers(),
        flags in any::<[bool; 7]>(),
        unprepared in tiers(),
        lacking in tiers(),
        granted in subsequence(RULES.to_vec(), 0..=4),
        runtimes in runtimes(),
    ) -> Case {
        let [trust, fuel, session, native, dockerfile, missing_module, early_import] = flags;
        let mut rules = TierRules::default();
        (rules.bundled, rules.approved, rules.unknown) = (bundled, listed, unknown);
        // An approval vouches for a skill, unless the registry does already.
        let approved_tiers = approved.filter(|_| vouched != Vouched::Unknown);
        let without_wasm = |tiers: Vec<Tier>| tiers.into_iter().filter(|tier| *tier != Tier::Wasm).collect();
        let (unprepared, lacking) = (without_wasm(unprepared), without_wasm(lacking));
        Case {
            vouched, approved_tiers, manifest, choice, rules, trust, fuel, session, native, dockerfile, missing_module,
            early_import, unprepared, lacking, granted, runtimes,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_plan_never_names_a_tier_that_policy_forbids_or_the_machine_lacks(case in cases()) {
        if let Ok(plan) = case.plan() {
            prop_assert!(case.policy_allows(plan.tier), "{:?}", plan.tier);
            prop_assert!(!case.lacking.contains(&plan.tier) && !case.unprepared.contains(&plan.tier));
            if let Choice::Tier(tier) = case.choice {
                prop_assert_eq!(plan.tier, tier);
            }
        }
    }

    #[test]
    fn a_refusal_has_a_way_out_or_says_that_there_is_none(case in cases()) {
        if let Err(refused) = case.plan() {
            prop_assert!(!refused.denials.is_empty());
            for denial in refused.denials {
                prop_assert!(!denial.message.is_empty());
                prop_assert!(denial.hint.is_some_and(|hint| !hint.is_empty()), "{}", denial.message);
            }
        }
    }

    #[test]
    fn what_holds_was_granted_and_asked_for(case in cases()) {
        if let Ok(plan) = case.plan() {
            let asked = Manifest::read(case.manifest.clone()).unwrap().permissions;
            for rule in &plan.effective.grants.http.allow {
                prop_assert!(plan.granted.http.allow.iter().any(|granted| granted.covers(rule)));
                let is_asked = |asked: &Permissions| asked.network.iter().any(|wish| wish.what.covers(rule));
                prop_assert!(asked.as_ref().is_none_or(is_asked), "{rule}");
            }
        }
    }

    #[test]
    fn granting_less_never_gives_more(case in cases(), keep in 0_usize..4) {
        let narrower = Case { granted: case.granted.iter().copied().take(keep).collect(), ..case.clone() };
        if let (Ok(wide), Ok(narrow)) = (case.plan(), narrower.plan()) {
            for rule in &narrow.effective.grants.http.allow {
                prop_assert!(wide.effective.grants.http.allow.iter().any(|held| held.covers(rule)));
            }
        }
    }

    #[test]
    fn the_second_runtime_is_chosen_only_for_what_only_it_has_or_by_name_and_only_where_it_is(case in cases()) {
        if let Ok(plan) = case.plan() {
            let asked = case.manifest["runtime"].as_str().and_then(|name| name.parse().ok());
            let named = case.runtimes.named.or(asked);
            prop_assert!(named.is_none_or(|kind| kind == plan.runtime));
            if plan.runtime == RuntimeKind::Pyodide {
                prop_assert!(!case.runtimes.second_lacking && !case.runtimes.unresolved);
                prop_assert!(named.is_some() || case.runtimes.only_second);
                prop_assert!(plan.runtime_reason.is_some());
            }
            if named.is_none() && case.runtimes.only_second && plan.runtime == RuntimeKind::WasiPython {
                prop_assert!(plan.runtime_reason.is_some_and(|why| why.contains("pydantic-core")));
            }
        }
    }

    #[test]
    fn what_is_required_decides_about_no_more_than_the_runtime(case in cases(), other in runtimes()) {
        let other = Runtimes { failed: Vec::new(), named: None, ..other };
        let mut manifest = case.manifest.clone();
        manifest["runtime"] = Value::Null;
        let one = Case { manifest, runtimes: Runtimes::default(), ..case };
        let two = Case { runtimes: other, ..one.clone() };
        match (one.plan(), two.plan()) {
            (Ok(one), Ok(two)) => {
                prop_assert_eq!((one.tier, one.effective.grants), (two.tier, two.effective.grants));
            }
            (one, two) => prop_assert_eq!(one.is_ok(), two.is_ok()),
        }
    }

    #[test]
    fn asking_for_nothing_gives_nothing(case in cases()) {
        let mut manifest = case.manifest.clone();
        manifest["permissions"] = json!({});
        if let Ok(plan) = (Case { manifest, ..case }).plan() {
            prop_assert!(plan.effective.grants.http.allow.is_empty());
        }
    }

    #[test]
    fn a_shorter_list_of_tiers_never_adds_one(case in cases(), kept in tiers()) {
        let narrow = |listed: &Option<Vec<Tier>>| {
            listed.as_ref().map(|tiers| tiers.iter().copied().filter(|tier| kept.contains(tier)).collect::<Vec<_>>())
        };
        let mut rules = case.rules.clone();
        rules.bundled = narrow(&case.rules.bundled);
        rules.approved = narrow(&case.rules.approved);
        rules.unknown = narrow(&case.rules.unknown);
        if let Ok(plan) = (Case { rules, ..case.clone() }).plan() {
            prop_assert!(case.policy_allows(plan.tier), "{:?}", plan.tier);
        }
    }
}

fn plain() -> Case {
    Case {
        vouched: Vouched::Unknown,
        approved_tiers: None,
        manifest: json!({"name": "b"}),
        choice: Choice::Auto,
        rules: TierRules::default(),
        trust: false,
        fuel: false,
        session: false,
        native: false,
        dockerfile: false,
        missing_module: false,
        early_import: false,
        unprepared: Vec::new(),
        lacking: Vec::new(),
        granted: Vec::new(),
        runtimes: Runtimes::default(),
    }
}

fn requiring(runtimes: Runtimes) -> Case {
    Case { runtimes, ..plain() }
}

#[test]
fn a_skill_runs_in_a_cell_unless_something_speaks_against_it() {
    let plan = plain().plan().unwrap();
    assert_eq!((plan.tier, plan.reason, plan.preparation), (Tier::Wasm, None, Preparation::SkillImage));
}

#[test]
fn a_module_that_a_cell_lacks_leads_to_the_strongest_other_tier_with_the_reason() {
    let case = Case { vouched: Vouched::Bundled, missing_module: true, ..plain() };
    let plan = case.plan().unwrap();
    assert_eq!(plan.tier, Tier::Container);
    assert!(plan.reason.unwrap().contains("`onnxruntime`"));
    assert_eq!(plan.passed_over[0].tier, Tier::Wasm);
    let plan = Case { unprepared: vec![Tier::Container], ..case }.plan().unwrap();
    assert_eq!(plan.tier, Tier::Subprocess);
    assert!(plan.passed_over[1].why.contains("it can't be pulled"));
}

#[test]
fn a_manifest_that_asks_for_a_tier_gets_it_only_where_policy_agrees() {
    let manifest = json!({"execution": "subprocess"});
    let refused = Case { manifest: manifest.clone(), ..plain() }.plan().unwrap_err();
    assert!(refused.denials[0].message.contains("nobody vouches"));
    assert_eq!(Case { manifest, vouched: Vouched::Approved, ..plain() }.plan().unwrap().tier, Tier::Subprocess);
}

#[test]
fn a_native_requirement_that_no_tier_can_serve_leaves_the_skill_in_its_cell() {
    let case = Case { native: true, vouched: Vouched::Bundled, ..plain() };
    assert_eq!(case.plan().unwrap().tier, Tier::Container);
    let lacking = vec![Tier::Container, Tier::Subprocess];
    assert_eq!(Case { lacking, ..case }.plan().unwrap().tier, Tier::Wasm);
}

#[test]
fn a_session_is_refused_where_there_is_no_cell_and_says_so() {
    let case = Case { session: true, manifest: json!({"name": "b", "execution": "container"}), ..plain() };
    let refused = case.plan().unwrap_err();
    assert!(refused.denials[0].message.contains("a session is kept in a cell only"), "{:?}", refused.denials);
    let native = Case { session: true, native: true, ..plain() };
    assert_eq!(native.plan().unwrap().tier, Tier::Wasm, "what is native only may still import in a cell");
}

#[test]
fn a_requirement_that_only_the_second_runtime_has_decides_for_it_and_is_named() {
    let plan = requiring(Runtimes { only_second: true, ..Runtimes::default() }).plan().unwrap();
    assert_eq!(plan.runtime, RuntimeKind::Pyodide);
    assert!(plan.runtime_reason.unwrap().contains("`pydantic → pydantic-core`"));
    let plan = requiring(Runtimes { only_first: true, ..Runtimes::default() }).plan().unwrap();
    assert_eq!((plan.runtime, plan.runtime_reason), (RuntimeKind::WasiPython, None));
}

#[test]
fn a_skill_that_needs_what_no_runtime_has_together_is_told_what_would_serve_it() {
    let both = Runtimes { only_second: true, only_first: true, ..Runtimes::default() };
    let plan = requiring(both.clone()).plan().unwrap();
    assert_eq!(plan.runtime, RuntimeKind::WasiPython);
    let why = plan.runtime_reason.unwrap();
    for part in ["`pydantic → pydantic-core`", "`numpy`", "no runtime has both", "`container`"] {
        assert!(why.contains(part), "{why}");
    }
    let failed = Runtimes { failed: vec![RuntimeKind::WasiPython], ..both };
    assert_eq!(requiring(failed).plan().unwrap().runtime, RuntimeKind::Pyodide, "it imports there, perhaps");
}

#[test]
fn a_skill_that_does_not_import_on_the_second_runtime_goes_back_to_the_first() {
    let failed = vec![RuntimeKind::Pyodide];
    let plan = requiring(Runtimes { only_second: true, failed, ..Runtimes::default() }).plan().unwrap();
    assert_eq!((plan.tier, plan.runtime), (Tier::Wasm, RuntimeKind::WasiPython));
    assert!(plan.runtime_reason.unwrap().contains("for want of `onnxruntime`"));
}

#[test]
fn a_named_runtime_that_is_not_there_is_refused_and_one_that_would_only_be_better_is_told() {
    let lacking = Runtimes { second_lacking: true, only_second: true, ..Runtimes::default() };
    let plan = requiring(lacking.clone()).plan().unwrap();
    assert_eq!(plan.runtime, RuntimeKind::WasiPython);
    assert!(plan.runtime_reason.unwrap().contains("npm was not found"));
    let named = requiring(Runtimes { named: Some(RuntimeKind::Pyodide), ..lacking.clone() });
    let refused = named.plan().unwrap_err();
    assert_eq!(refused.denials[0].hint.as_deref(), Some("fetch it elsewhere"));
    let asked = Case { manifest: json!({"runtime": "pyodide"}), ..requiring(lacking) };
    assert!(asked.plan().is_err());
    let overruled = Runtimes { named: Some(RuntimeKind::WasiPython), ..asked.runtimes.clone() };
    assert_eq!(Case { runtimes: overruled, ..asked }.plan().unwrap().runtime, RuntimeKind::WasiPython);
}

#[test]
fn a_runtime_that_makes_no_sense_is_refused_unless_one_is_named() {
    let odd = Case { manifest: json!({"runtime": "node"}), ..plain() };
    assert!(odd.plan().unwrap_err().denials[0].hint.as_ref().unwrap().contains("--runtime"));
    let named = Runtimes { named: Some(RuntimeKind::WasiPython), ..Runtimes::default() };
    assert!(Case { runtimes: named, ..odd }.plan().is_ok());
}

fn packages(all: &[(&str, PackageStatus)]) -> Packages {
    let package = |(name, standing): &(&str, PackageStatus)| Package {
        name: (*name).into(),
        wanted: String::new(),
        chain: vec![(*name).into()],
        modules: vec![(*name).into()],
        of_extra: false,
        standing: standing.clone(),
    };
    Packages { packages: all.iter().map(package).collect(), ..Packages::default() }
}

#[test]
fn what_each_runtime_has_is_told_from_what_the_requirements_resolve_to_on_both() {
    let text = |text: &str| text.to_owned();
    let native = || PackageStatus::Native { version: text("1"), tags: vec![text("cp311-cp311-linux_x86_64")] };
    let wheel = || PackageStatus::Wheel { version: text("1"), file: text("x.whl"), sha256: text("0") };
    let inside = || PackageStatus::Runtime { version: text("1") };
    let stand_in = || PackageStatus::StandIn { version: text("1"), limits: Vec::new() };
    let first = packages(&[
        ("core", stand_in()),
        ("mupdf", native()),
        ("numpy", inside()),
        ("six", wheel()),
        ("ort", native()),
    ]);
    let second =
        packages(&[("core", wheel()), ("mupdf", wheel()), ("numpy", native()), ("six", wheel()), ("ort", native())]);
    let needs = RuntimeNeeds::compare(Some(&first), Some(&second));
    assert_eq!(needs.only_second, ["core", "mupdf"]);
    assert_eq!(needs.only_first, ["numpy"]);
    assert_eq!(needs.native_requirement(RuntimeKind::WasiPython).unwrap(), "mupdf");
    assert_eq!(needs.native_requirement(RuntimeKind::Pyodide).unwrap(), "numpy");
    let mut spared = packages(&[("google-genai", wheel()), ("google-auth", wheel()), ("cryptography", native())]);
    spared.packages[1].chain.insert(0, text("google-genai"));
    spared.packages[2].chain.splice(0..0, [text("google-genai"), text("google-auth")]);
    let needs = RuntimeNeeds::compare(Some(&spared), Some(&spared));
    assert_eq!(needs.native_requirement(RuntimeKind::Pyodide), None, "what requires it does without it");
    spared.packages[2].chain.drain(..2);
    let needs = RuntimeNeeds::compare(Some(&spared), Some(&spared));
    assert_eq!(needs.native_requirement(RuntimeKind::Pyodide).unwrap(), "cryptography", "the skill asks for it");
    let alone = RuntimeNeeds::compare(Some(&first), None);
    assert!(alone.only_second.is_empty() && alone.only_first.is_empty(), "nothing speaks for what was not asked about");
}
