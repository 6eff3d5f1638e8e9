//! Properties of plans: no tier that policy forbids, narrowing never widens, every refusal has a way out or says that
//! there is none; and the cases that each rule is for.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use super::*;
use crate::session::{Session, SessionLimits};
use skillcell_policy::{Choice, HttpRule, TierRules};

/// A machine that lacks some tiers.
struct Lacking(Vec<Tier>);

impl MachineFacts for Lacking {
    fn unavailable(&self, tier: Tier) -> Option<String> {
        self.0.contains(&tier).then(|| format!("the tier `{tier}` is not available on this machine: nothing is there"))
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
        let missing = RuledOut { tier: Tier::Wasm, why: WhyNot::Missing(missing) };
        let unprepared = self.unprepared.iter().map(|tier| RuledOut {
            tier: *tier,
            why: WhyNot::Unprepared { message: "it can't be pulled".into(), hint: None },
        });
        let facts = SkillFacts {
            id: "a/b",
            vouched: self.vouched,
            approval: self.approved_tiers.as_ref().map(|tiers| ApprovedAs { permissions: &permissions, tiers }),
            approve_command: Some("skillcell approve a/b".into()),
            has_dockerfile: self.dockerfile,
            early_imports: &early_imports,
            native_requirement: self.native.then(|| "fastembed → onnxruntime".to_owned()),
            ruled_out: unprepared.chain(self.missing_module.then_some(missing)).collect(),
        };
        plan_call(&facts, &manifest, &self.call(), &Lacking(self.lacking.clone()))
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
    (execution, permissions).prop_map(|(execution, permissions)| {
        json!({"name": "b", "requirements": ["x"], "execution": execution, "permissions": permissions})
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
            early_import, unprepared, lacking, granted,
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
    }
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
