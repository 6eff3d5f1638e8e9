//! HTTP rules: nothing without one, exactly what one says, and a denial that says what would help.

use super::{allows, rule, rules, target};
use crate::{BadHost, BadMethod, BadPath, BadRule, Denial, DenialKind, HttpDenial, HttpPart, HttpRule, HttpRules};

fn denial(rules: &HttpRules, method: &str, url: &str) -> HttpDenial {
    rules.decide(method, &target(url)).expect_err(url)
}

fn part(rules: &HttpRules, method: &str, url: &str) -> HttpPart {
    match denial(rules, method, url) {
        HttpDenial::NotAllowed { part, .. } => part,
        other => panic!("{other}"),
    }
}

#[test]
fn a_host_that_is_denied_whole_is_not_connected_to() {
    let may = |allow: &[&str], deny: &[&str], url: &str| rules(allow, deny).decide_connect(&target(url)).is_ok();
    assert!(may(&["https://*.example.org/v1/*"], &["https://a.example.org/v1/x"], "https://a.example.org/"));
    assert!(may(&["https://*.example.org"], &["POST https://a.example.org"], "https://a.example.org/"));
    assert!(!may(&["https://*.example.org/v1/*"], &["https://a.example.org"], "https://a.example.org/"));
    assert!(!may(&["https://*/*"], &["https://*"], "https://a.example.org/"));
    assert!(!may(&["https://a.example.org"], &[], "https://a.example.org:8443/"));
}

#[test]
fn a_star_alone_is_every_host_but_addresses_that_are_not_public() {
    let any = rules(&["https://*/*"], &[]);
    for host in ["a.org", "x.y.z.example", "localhost", "93.184.216.34", "[2606:2800:220:1::1]"] {
        assert!(allows(&any, "GET", &format!("https://{host}/x")), "{host}");
    }
    for host in
        ["127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "0.0.0.0", "[::1]", "[fe80::1]", "[::ffff:10.0.0.1]"]
    {
        assert!(!allows(&any, "GET", &format!("https://{host}/x")), "{host}");
        let with = rules(&["https://*/*", &format!("https://{host}/*")], &[]);
        assert!(allows(&with, "GET", &format!("https://{host}/x")), "{host} has a rule of its own");
        let denied = rules(&[&format!("https://{host}/*")], &["https://*"]);
        assert!(!allows(&denied, "GET", &format!("https://{host}/x")), "{host}: what denies all denies this too");
    }
    assert!(!allows(&any, "POST", "https://a.org/") && !allows(&any, "GET", "http://a.org/"));
    assert!(!allows(&any, "GET", "https://a.org:8443/"));
    assert!(allows(&rules(&["https://*:8443/v1/*"], &[]), "GET", "https://a.org:8443/v1/x"));
    assert_eq!(rule("https://*").to_string(), "GET,HEAD https://*/*");
    assert!(crate::SecretGrant::parse("KEY@*").is_err(), "a secret names its hosts");
}

#[test]
fn without_a_rule_nothing_is_allowed() {
    let denied = denial(&HttpRules::default(), "GET", "https://a.org/");
    assert_eq!(denied.to_string(), "no rule allows `GET https://a.org/`: there is none for the host `a.org`");
    assert_eq!(denied.flag().unwrap(), "--allow-http 'GET https://a.org/'");
}

#[test]
fn a_rule_without_methods_allows_get_and_head() {
    let rules = rules(&["https://a.org"], &[]);
    assert!(allows(&rules, "GET", "https://a.org/") && allows(&rules, "HEAD", "https://a.org/any/path?q"));
    assert_eq!(part(&rules, "POST", "https://a.org/"), HttpPart::Method);
}

#[test]
fn a_star_allows_any_method_but_those_that_nothing_allows() {
    let rules = rules(&["* https://a.org/"], &[]);
    assert!(allows(&rules, "DELETE", "https://a.org/") && allows(&rules, "PROPFIND", "https://a.org/"));
    for method in ["CONNECT", "TRACE", "TRACK", "get", "Get", "GE T", "", "GET\r\n", "G(T", "*"] {
        assert!(matches!(denial(&rules, method, "https://a.org/"), HttpDenial::Method(_)), "{method}");
    }
}

#[test]
fn a_wildcard_host_is_exactly_one_level() {
    let rules = rules(&["https://*.example.org"], &[]);
    assert!(allows(&rules, "GET", "https://api.example.org/") && allows(&rules, "GET", "https://API.EXAMPLE.ORG/"));
    for host in ["example.org", "a.b.example.org", "apiexample.org", "example.org.evil.org", "api.example.org.evil.org"]
    {
        assert_eq!(part(&rules, "GET", &format!("https://{host}/")), HttpPart::Host, "{host}");
    }
}

#[test]
fn each_part_of_a_request_must_fit() {
    let rules = rules(&["GET https://a.org/v1/*"], &[]);
    assert!(allows(&rules, "GET", "https://a.org/v1/x"));
    assert_eq!(part(&rules, "GET", "https://b.org/v1/x"), HttpPart::Host);
    assert_eq!(part(&rules, "GET", "http://a.org/v1/x"), HttpPart::Scheme);
    assert_eq!(part(&rules, "GET", "https://a.org:444/v1/x"), HttpPart::Port);
    assert_eq!(part(&rules, "GET", "https://a.org/v1"), HttpPart::Path);
    assert_eq!(part(&rules, "GET", "https://a.org/v10/x"), HttpPart::Path);
    assert_eq!(part(&rules, "POST", "https://a.org/v1/x"), HttpPart::Method);
}

#[test]
fn a_denial_is_about_the_closest_rule() {
    let rules =
        rules(&["GET http://b.org/", "GET https://a.org/v1/*", "POST https://a.org/v2/*", "GET https://a.org:1/"], &[]);
    let denied = denial(&rules, "GET", "https://a.org/v2/x");
    assert_eq!(
        denied.to_string(),
        "no rule allows `GET https://a.org/v2/x`: the method GET is not in `POST https://a.org/v2/*`"
    );
    let denied = denial(&rules, "GET", "https://a.org/v3/x");
    assert!(denied.to_string().ends_with("the path is not under `/v1/*` of `GET https://a.org/v1/*`"), "{denied}");
}

#[test]
fn the_flag_of_a_denial_allows_exactly_that_request() {
    for url in [
        "https://a.org:8443/x?q=1",
        "http://[::1]:80/a%7eb",
        "https://a.org/a*",
        "https://a.org/a%2Fb",
        "https://a.org/it's",
    ] {
        let denied = denial(&HttpRules::default(), "PUT", url);
        let HttpDenial::NotAllowed { suggested, .. } = &denied else { panic!("{denied}") };
        let text = suggested.to_string();
        assert!(allows(&rules(&[&text], &[]), "PUT", url), "{text}");
        assert!(!allows(&rules(&[&text], &[]), "GET", url));
    }
    let denied = denial(&HttpRules::default(), "GET", &format!("https://a.org/v1/{}/x", "y".repeat(300)));
    assert_eq!(denied.flag().unwrap(), "--allow-http 'GET https://a.org/v1/*'");
}

#[test]
fn a_flag_is_safe_to_paste() {
    let denied = denial(&HttpRules::default(), "GET", "https://a.org/';rm%20-rf%20~;'$(x)`y`");
    assert_eq!(denied.flag().unwrap(), r"--allow-http 'GET https://a.org/'\'';rm%20-rf%20~;'\''$(x)%60y%60'");
}

#[test]
fn deny_beats_allow_and_is_for_any_method_unless_it_says() {
    let rules = rules(&["* https://a.org/*"], &["https://a.org/admin*", "DELETE https://a.org"]);
    assert!(allows(&rules, "POST", "https://a.org/x"));
    for (method, url) in
        [("POST", "https://a.org/admin"), ("GET", "https://a.org/admin/x"), ("DELETE", "https://a.org/x")]
    {
        let denied = denial(&rules, method, url);
        assert!(matches!(denied, HttpDenial::Denied { .. }), "{url}");
        assert_eq!(denied.flag(), None);
    }
}

#[test]
fn a_denied_path_is_denied_in_other_spellings() {
    let rules = rules(&["https://a.org/*"], &["https://a.org/admin*"]);
    for path in ["/%61dmin", "/ADMIN", "/Admin/x", "//admin", "/x%2f..%2fadmin", "/%2561dmin", "/x/..%5cadmin"] {
        let denied = denial(&rules, "GET", &format!("https://a.org{path}"));
        assert!(matches!(denied, HttpDenial::Denied { .. }), "{path}: {denied}");
    }
}

#[test]
fn a_path_that_servers_read_differently_needs_a_rule_for_every_path() {
    for path in ["/v1/a%2Fb", "/v1//x", "/v1/%2e%2e%2fadmin", "/v1/..%5cadmin", "/v1/%252e%252e/", "/v1/%c0%ae%c0%ae/"]
    {
        let url = format!("https://a.org{path}");
        assert_eq!(part(&rules(&["https://a.org/v1/*"], &[]), "GET", &url), HttpPart::Path, "{path}");
        assert!(allows(&rules(&["https://a.org/*"], &[]), "GET", &url), "{path}");
    }
}

#[test]
fn a_denial_says_what_is_odd_about_a_path() {
    let denied = denial(&rules(&["https://a.org/v1/*"], &[]), "GET", "https://a.org/v1/a%2Fb");
    assert!(
        denied.to_string().ends_with("the path has an encoded slash, which only a rule for every path (`/*`) allows")
    );
    assert_eq!(denied.flag().unwrap(), "--allow-http 'GET https://a.org/*'");
}

#[test]
fn rules_display_as_they_are_read() {
    let cases = [
        ("https://a.org", "GET,HEAD https://a.org/*"),
        ("POST,GET  HTTPS://A.org:443/v1/*", "GET,POST https://a.org/v1/*"),
        (" * http://*.Example.org:8080/x ", "* http://*.example.org:8080/x"),
        ("http://[::1]/", "GET,HEAD http://[::1]/"),
        ("http://[::ffff:10.0.0.1]:81", "GET,HEAD http://10.0.0.1:81/*"),
        ("https://a.org/a%2a%41", "GET,HEAD https://a.org/a%2AA"),
        ("https://a.org/v1*", "GET,HEAD https://a.org/v1*"),
    ];
    for (text, shown) in cases {
        assert_eq!(rule(text).to_string(), shown);
        assert_eq!(rule(shown), rule(text));
    }
    assert_eq!(HttpRule::parse_deny("https://a.org").unwrap().to_string(), "* https://a.org/*");
}

#[test]
fn texts_that_are_no_rules_are_refused() {
    let bad = |text: &str| HttpRule::parse(text).expect_err(text);
    assert!(matches!(bad("get https://a.org"), BadRule::Method(BadMethod::LowerCase(_))));
    assert!(matches!(bad("GET, POST https://a.org"), BadRule::Method(BadMethod::Token(_))));
    assert!(matches!(bad("GET,* https://a.org"), BadRule::Method(BadMethod::Token(_))));
    assert!(matches!(bad("CONNECT https://a.org"), BadRule::Method(BadMethod::Never(_))));
    assert!(matches!(bad(&format!("{}A https://a.org", "A,".repeat(16))), BadRule::Method(BadMethod::TooMany)));
    for host in ["*.org", "*.*.org", "a.*.org", "a*.example.org", "**.example.org", "*.1.2.3.4", "*.com"] {
        let error = bad(&format!("https://{host}/"));
        assert!(matches!(error, BadRule::Host(BadHost::Wildcard(_) | BadHost::OddIpv4(_))), "{host}: {error}");
    }
    assert!(matches!(bad("https://a.org/*/x"), BadRule::Path(BadPath::Star(_))));
    assert!(matches!(bad("https://a.org/x**"), BadRule::Path(BadPath::Star(_))));
    assert!(matches!(bad("https://a.org/a/../b"), BadRule::Path(BadPath::DotSegment(_))));
    assert!(matches!(bad("https://a.org//b"), BadRule::Path(BadPath::Ambiguous { .. })));
    assert!(matches!(bad("https://a.org/a%2fb"), BadRule::Path(BadPath::Ambiguous { .. })));
    assert!(matches!(bad("https://a.org/?q"), BadRule::Query(_)));
    assert!(matches!(bad("https://a.org/#f"), BadRule::Query(_)));
    for text in [
        "",
        "GET",
        "a.org",
        "https://u@a.org",
        "https://a.org:0",
        "https://127.1/",
        "GET https://a.org x",
        "https://é.org",
    ] {
        bad(text);
    }
}

#[test]
fn covering_follows_every_part() {
    let wide = rule("* https://*.example.org/v1*");
    for narrower in ["https://a.example.org/v1", "POST https://a.example.org/v1/x*", "* https://*.example.org/v1*"] {
        assert!(wide.covers(&rule(narrower)), "{narrower}");
    }
    for other in [
        "http://a.example.org/v1",
        "https://a.example.org/v2",
        "https://a.example.org",
        "https://example.org/v1",
        "https://a.example.org:1/v1",
    ] {
        assert!(!wide.covers(&rule(other)), "{other}");
    }
    assert!(!rule("GET https://a.org").covers(&rule("* https://a.org")));
    assert!(!rule("https://a.org/").covers(&rule("https://a.org/*")));
}

#[test]
fn an_intersection_is_what_both_allow() {
    let both = |a: &str, b: &str| rule(a).intersect(&rule(b)).map(|rule| rule.to_string());
    assert_eq!(
        both("GET,POST https://*.example.org/*", "* https://a.example.org/v1/*").unwrap(),
        "GET,POST https://a.example.org/v1/*"
    );
    assert_eq!(both("GET https://a.org/x*", "GET,HEAD https://a.org/xyz").unwrap(), "GET https://a.org/xyz");
    assert_eq!(both("GET https://a.org/", "POST https://a.org/"), None);
    assert_eq!(both("https://a.org/x", "https://a.org/y*"), None);
    assert_eq!(both("https://a.org", "http://a.org"), None);
}

#[test]
fn a_denial_serializes_for_the_envelope() {
    let rules = rules(&["https://a.org/v1/*"], &[]);
    let denied = Denial::http("GET", "https://a.org/x", &denial(&rules, "GET", "https://a.org/x"));
    assert_eq!(denied.kind, DenialKind::Http);
    let json = serde_json::to_value(&denied).unwrap();
    assert_eq!(json["rule"], "GET,HEAD https://a.org/v1/*");
    assert_eq!(json["flag"], "--allow-http 'GET https://a.org/x'");
    assert_eq!(json["hint"], "`--allow-http 'GET https://a.org/x'` would allow it");
    let long = Denial::url("GET", &format!("https://a.org/\u{1b}[31m{}", "x".repeat(9000)), &crate::BadUrl::TooLong);
    assert!(long.asked.len() < 300 && !long.asked.contains('\u{1b}'));
}
