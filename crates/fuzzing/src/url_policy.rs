//! Rules and URLs: the decision, held against the naive implementation; narrowing; what is shown and read again.
//!
//! An input is lines: `allow RULE`, `deny RULE`, `ask RULE` (a manifest's wish), and `METHOD URL`, the requests.

use super::assert_fit_to_show;
use skillcell_http::Place;
use skillcell_policy::naive;
use skillcell_policy::{Ambiguity, Effective, Grants, HttpDenial, HttpPart, HttpRule, HttpRules, Permissions, Target};

const MAX_RULES: usize = 3;
const MAX_REQUESTS: usize = 3;

#[derive(Default)]
struct Case<'t> {
    grants: Grants,
    asked: Vec<HttpRule>,
    requests: Vec<(&'t str, &'t str)>,
}

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let case = Case::read(text);
    for (method, url) in &case.requests {
        match Target::parse(url) {
            Ok(target) => case.check_request(method, url, &target),
            Err(error) => assert_fit_to_show(&error.to_string()),
        }
    }
}

impl<'t> Case<'t> {
    fn read(text: &'t str) -> Case<'t> {
        let mut case = Case::default();
        for (what, rest) in text.split('\n').filter_map(|line| line.split_once(' ')) {
            match what {
                "allow" => add_rule(&mut case.grants.http.allow, rest, HttpRule::parse),
                "deny" => add_rule(&mut case.grants.http.deny, rest, HttpRule::parse_deny),
                "ask" => add_rule(&mut case.asked, rest, HttpRule::parse),
                _ if case.requests.len() < MAX_REQUESTS => case.requests.push((what, rest)),
                _ => {}
            }
        }
        case
    }

    fn check_request(&self, method: &str, url: &str, target: &Target) {
        let shown = target.to_string();
        assert_eq!(Target::parse(&shown).as_ref(), Ok(target), "{shown}");
        let (origin, path) = shown.split_at(target.origin().len());
        let authority = origin.split_once("://").expect("an origin").1;
        assert_eq!(Target::from_parts(target.scheme(), authority, path).as_ref(), Ok(target), "{shown}");
        self.same_place(target);
        self.check_decision(method, url, target);
        self.check_narrowing(method, target);
    }

    /// The HTTP client understands the same host and port by it.
    fn same_place(&self, target: &Target) {
        let place = Place::parse(&target.host().to_string(), target.port()).expect("policy is the stricter reader");
        assert_eq!(place.address(), target.host().addr());
        assert_eq!(place.to_string(), format!("{}:{}", target.host(), target.port()));
    }

    fn check_decision(&self, method: &str, url: &str, target: &Target) {
        let rules = &self.grants.http;
        let decision = rules.decide(method, target);
        match &decision {
            Ok(allowed) => {
                let rule = rules.get(allowed.by().id()).expect("a rule of these");
                assert!(rule.matches(method, target) && allowed.is_for(method, target));
                assert!(!rules.deny.iter().any(|rule| rule.denies(method, target)), "deny beats allow");
            }
            Err(denial) => {
                assert_fit_to_show(&denial.to_string());
                if let HttpDenial::NotAllowed { suggested, .. } = denial {
                    assert!(suggested.matches(method, target), "{suggested} is suggested for {method} {target}");
                    assert_eq!(HttpRule::parse(&suggested.to_string()).as_ref(), Ok(&**suggested));
                }
            }
        }
        // No rule names the host: nothing to compare, and compiling expressions is slow.
        if matches!(decision, Err(HttpDenial::NotAllowed { part: HttpPart::Host, .. })) {
            return;
        }
        let naive = self.naive_allows(method, url, target);
        assert!(decision.is_err() || naive, "{method} {url} is allowed, and not by the naive reading");
        // The naive implementation knows neither lookalikes of dots and slashes nor methods that no rule can allow.
        let known = matches!(target.match_path().ambiguity(), Some(Ambiguity::Lookalike))
            || matches!(decision, Err(HttpDenial::Method(_)));
        assert!(decision.is_ok() || !naive || known, "{method} {url} is refused, and not by the naive reading");
    }

    fn naive_allows(&self, method: &str, url: &str, target: &Target) -> bool {
        let texts = |rules: &[HttpRule]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
        // An IPv6 address has many spellings: that one is read as the other shows it.
        let url = if url.contains('[') { target.to_string() } else { url.to_owned() };
        naive::allows(&texts(&self.grants.http.allow), &texts(&self.grants.http.deny), method, &url) == Some(true)
    }

    /// What holds is what was granted and asked for.
    fn check_narrowing(&self, method: &str, target: &Target) {
        let wishes: Vec<String> = self.asked.iter().map(ToString::to_string).collect();
        let asked = Permissions::parse(&serde_json::json!({ "network": wishes })).expect("shown rules are read");
        let held = Effective::of("s", Some(&asked), &self.grants).grants;
        let allows = |rules: &HttpRules| rules.decide(method, target).is_ok();
        let is_asked = self.asked.iter().any(|wish| wish.matches(method, target));
        assert_eq!(allows(&held.http), allows(&self.grants.http) && is_asked, "{method} {target}");
    }
}

/// A rule that is one survives being shown.
fn add_rule<E: ToString>(rules: &mut Vec<HttpRule>, text: &str, read: fn(&str) -> Result<HttpRule, E>) {
    match read(text) {
        Ok(rule) => {
            let shown = rule.to_string();
            assert!(read(&shown).is_ok_and(|again| again == rule), "{shown}");
            if rules.len() < MAX_RULES {
                rules.push(rule);
            }
        }
        Err(error) => assert_fit_to_show(&error.to_string()),
    }
}
