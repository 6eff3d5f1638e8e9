//! Which requests a skill's calls and texts amount to: rules, each with the places that it comes from.

use std::collections::{BTreeMap, BTreeSet};

use super::effects::{self, Effect};
use super::facts::{Call, Facts, UNKNOWN};
use super::graph::Graph;
use super::needs;
use super::tried::Tried;
use skillcell_policy::{AddressClass, HostPattern, HttpRule, Methods};

/// Every host there is.
pub const ANY: &str = "https://*/*";
/// More rules for one host than this become one for all of it.
const MOST_PATHS: usize = 3;
const MOST_RULES: usize = 40;
/// Hosts that appear in documents as names of things, not to be asked.
const NAMES_ONLY: [&str; 7] =
    ["www.w3.org", "schemas.", "json-schema.org", "purl.org", "ns.adobe.com", "xmlns.", "www.apache.org/licenses"];

/// Requests to one place.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Asked {
    pub methods: BTreeSet<String>,
    pub places: BTreeSet<String>,
    pub why: Option<&'static str>,
}

/// Rules by URL.
pub type Rules = BTreeMap<String, Asked>;

const FROM_PARAMS: &str = "the URL is only known at run time, so this is any host: narrow it if you can";
const LOOPBACK: &str = "this computer itself: the operator has to lead there with --resolve";
const METADATA: &str = "a cloud's metadata service, which hands out credentials: nobody should grant this unasked";
const PRIVATE: &str = "no place of the public internet: services there often trust whoever can reach them";
const IN_ITS_CODE: &str = "an address in this client's own code: narrow it if you can";
const BY_IMPORT: &str = "importing this module asks that host";
const SERVICE: &str = "where this client's service is, by default";

/// A request as far as it is known.
struct Request {
    urls: Vec<String>,
    methods: BTreeSet<String>,
    place: String,
    file: String,
    /// It only makes something that requests are sent with.
    builds: bool,
    /// It makes an object that says all of a request, which another call sends.
    describes: bool,
}

pub fn rules(facts: &Facts, graph: &Graph<'_>, tried: &Tried) -> Rules {
    let (requests, mut rules) = (requests(facts, graph), Rules::new());
    let literals = literals(facts, graph);
    let sent = requests.iter().filter(|request| !request.builds);
    let all: BTreeSet<String> = sent.flat_map(|request| request.methods.iter().cloned()).collect();
    let built = |file: &str| requests.iter().any(|other| other.builds && other.file == file && !other.urls.is_empty());
    let described: BTreeSet<&String> =
        requests.iter().filter(|request| request.describes).flat_map(|request| &request.urls).collect();
    for request in &requests {
        // The object that it is given says more.
        if !request.builds && !request.urls.is_empty() && request.urls.iter().all(|url| described.contains(url)) {
            continue;
        }
        if request.urls.is_empty() && !request.builds && !built(&request.file) {
            let near = literals.iter().filter(|(_, file, _)| *file == request.file).count();
            if near == 0 {
                add(&mut rules, ANY, methods_of(request, &requests), &request.place, Some(FROM_PARAMS));
            }
        }
        for url in &request.urls {
            match rule_url(url, true) {
                // What is sent with it says which methods.
                Some(url) if request.builds && !request.describes && !all.is_empty() => {
                    add(&mut rules, &url, all.clone(), &request.place, loopback(&url));
                }
                Some(url) => add(&mut rules, &url, request.methods.clone(), &request.place, loopback(&url)),
                None => add(&mut rules, ANY, request.methods.clone(), &request.place, Some(FROM_PARAMS)),
            }
        }
    }
    if !requests.is_empty() {
        for (url, _, place) in &literals {
            let origin = url.split('/').take(3).collect::<Vec<_>>().join("/");
            let known = rules.keys().any(|rule| rule.starts_with(&origin));
            if let Some(url) = rule_url(url, false).filter(|_| !known) {
                add(&mut rules, &url, all.clone(), place, loopback(&url));
            }
        }
    }
    services(facts, graph, tried, &mut rules);
    folded(rules)
}

/// What is sent without a known URL: if objects of the same file describe such requests, they say how.
fn methods_of(request: &Request, all: &[Request]) -> BTreeSet<String> {
    let described = all.iter().filter(|other| other.describes && other.urls.is_empty() && other.file == request.file);
    let said: BTreeSet<String> = described.flat_map(|other| other.methods.iter().cloned()).collect();
    if said.is_empty() { request.methods.clone() } else { said }
}

fn add(rules: &mut Rules, url: &str, methods: BTreeSet<String>, place: &str, why: Option<&'static str>) {
    let asked = rules.entry(url.to_owned()).or_default();
    asked.methods.extend(methods);
    asked.places.insert(place.to_owned());
    asked.why = asked.why.or(why);
}

fn requests(facts: &Facts, graph: &Graph<'_>) -> Vec<Request> {
    let mut found = Vec::new();
    for (path, file) in &facts.files {
        for call in &file.calls {
            let node = (path.clone(), call.spot.function.clone());
            let builds = effects::of(&call.name) == Some(Effect::Http) && needs::builds(&call.name);
            let is_http = builds || needs::effect(file, call) == Some(Effect::Http);
            if is_http && effects::service(&call.name).is_none() && graph.reached.contains_key(&node) {
                found.push(Request {
                    urls: urls(call),
                    methods: methods(call),
                    place: format!("{path}:{}", call.spot.line),
                    file: path.clone(),
                    builds,
                    describes: call.name == "urllib.request.Request",
                });
            }
        }
    }
    found
}

/// A scheme alone is no address: it is what one is compared with, or begins with.
fn is_url(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty())
}

fn urls(call: &Call) -> Vec<String> {
    let secure = call.name.contains("HTTPS") || needs::LOOKUPS.contains(&call.name.as_str());
    let last = call.name.rsplit('.').next().unwrap_or("");
    let connects = ["HTTPSConnection", "HTTPConnection", "create_connection", "open_connection", "connect"];
    if call.name.starts_with("http.client.") && !connects.contains(&last) {
        return Vec::new();
    }
    if call.name.starts_with("http.client.") || call.name.starts_with("socket.") || call.name.starts_with("asyncio.") {
        let scheme = if secure { "https" } else { "http" };
        let hosts = call.texts.first().into_iter().flatten().filter(|text| !text.contains(['/', ' ']));
        return hosts.map(|host| format!("{scheme}://{host}/{UNKNOWN}")).collect();
    }
    let found: Vec<String> = call.texts.iter().flatten().filter(|text| is_url(text)).cloned().collect();
    let mut unique: BTreeSet<String> = BTreeSet::new();
    found.into_iter().filter(|text| unique.insert(text.clone())).collect()
}

fn methods(call: &Call) -> BTreeSet<String> {
    const NAMES: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];
    let parts = || call.name.strip_prefix("urllib.request").unwrap_or(&call.name).split('.').skip(1);
    let named = parts().find(|part| NAMES.contains(part)).map(str::to_ascii_uppercase);
    let spelled = || {
        let mut texts = call.texts.iter().flatten().chain([&call.word]);
        texts
            .find(|text| NAMES.iter().any(|name| name.eq_ignore_ascii_case(text)))
            .map(|text| text.to_ascii_uppercase())
    };
    let known = named.or_else(spelled);
    let is_known = known.is_some();
    let method = known.unwrap_or_else(|| {
        let posts = call.body || call.name.contains("ServerProxy") || call.name.contains("HTTPProvider");
        if posts { "POST".to_owned() } else { "GET".to_owned() }
    });
    let unsure = parts()
        .any(|part| matches!(part, "request" | "stream" | "send" | "HTTPSConnection" | "HTTPConnection" | "fetch"));
    match method.as_str() {
        "GET" if unsure && !is_known && !call.body => ["GET", "POST"].map(str::to_owned).into(),
        "GET" => ["GET", "HEAD"].map(str::to_owned).into(),
        _ => [method].into(),
    }
}

/// URLs that stand in files which run, as texts: URL, file, place.
fn literals(facts: &Facts, graph: &Graph<'_>) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for (path, file) in &facts.files {
        for url in &file.urls {
            let node = (path.clone(), url.spot.function.clone());
            let rest = url.text.split_once("//").map_or("", |(_, rest)| rest);
            let is_name = NAMES_ONLY.iter().any(|name| rest.starts_with(name)) || rest.ends_with(".xsd");
            if graph.reached.contains_key(&node)
                && is_url(&url.text)
                && !is_name
                && rule_url(&url.text, false).is_some()
            {
                found.push((url.text.clone(), path.clone(), format!("{path}:{}", url.spot.line)));
            }
        }
    }
    found
}

fn services(facts: &Facts, graph: &Graph<'_>, tried: &Tried, rules: &mut Rules) {
    for (path, file) in &facts.files {
        for import in file.imports.iter().filter(|import| import.to.is_none() && import.kind != "types") {
            let node = (path.clone(), import.spot.function.clone());
            let inner = import.names.iter().map(|name| format!("{}.{name}", import.module));
            let found = [import.module.clone()].into_iter().chain(inner).find_map(|name| effects::service(&name));
            let place = format!("{path}:{}", import.spot.line);
            if !graph.reached.contains_key(&node) {
                continue;
            }
            let asked = tried.failed.get(&import.module).and_then(|failed| failed.asks.as_deref());
            if let Some(url) = asked.and_then(|host| rule_url(&format!("https://{host}"), false)) {
                add(rules, &url, ["GET", "POST"].map(str::to_owned).into(), &place, Some(BY_IMPORT));
            }
            let Some((module, urls)) = found else {
                for origin in tried.services.get(&import.module).into_iter().flatten() {
                    if let Some(url) = rule_url(origin, false) {
                        add(rules, &url, ["GET", "POST"].map(str::to_owned).into(), &place, Some(IN_ITS_CODE));
                    }
                }
                continue;
            };
            let elsewhere: Vec<String> = file
                .calls
                .iter()
                .filter(|call| call.name.starts_with(module))
                .flat_map(urls_of)
                .filter_map(|url| rule_url(&url, false))
                .collect();
            let both = ["GET", "POST"].map(str::to_owned);
            for url in if elsewhere.is_empty() { urls.iter().map(|url| (*url).to_owned()).collect() } else { elsewhere }
            {
                let why = if url == ANY { FROM_PARAMS } else { loopback(&url).unwrap_or(SERVICE) };
                add(rules, &url, both.clone().into(), &place, Some(why));
            }
        }
    }
}

fn urls_of(call: &Call) -> Vec<String> {
    call.texts.iter().flatten().filter(|text| is_url(text)).cloned().collect()
}

fn loopback(url: &str) -> Option<&'static str> {
    let rule = HttpRule::new(Methods::Any, url).ok()?;
    let HostPattern::Exact(host) = rule.host() else { return None };
    match host.class() {
        AddressClass::Public => None,
        AddressClass::Loopback | AddressClass::Unspecified => Some(LOOPBACK),
        AddressClass::Metadata => Some(METADATA),
        _ => Some(PRIVATE),
    }
}

/// The URL of a rule for what is known of a URL: `None` if not even the host is. `exact`: it is asked as it stands.
fn rule_url(text: &str, exact: bool) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.split(['/', '?', '#', UNKNOWN]).next()?;
    let after = &rest[authority.len()..];
    if authority.is_empty() || (after.starts_with(UNKNOWN) && !is_whole(authority)) {
        return None;
    }
    let authority = authority.rsplit('@').next()?;
    let known = after.split(['?', '#', UNKNOWN]).next().unwrap_or("");
    let whole = exact && !after.split(['?', '#']).next().unwrap_or("").contains(UNKNOWN) && !known.is_empty();
    let path = if whole { known.to_owned() } else { format!("{}*", if known.is_empty() { "/" } else { known }) };
    let usable = |url: String| HttpRule::new(Methods::Any, &url).is_ok().then_some(url);
    usable(format!("{scheme}://{authority}{path}")).or_else(|| usable(format!("{scheme}://{authority}/*")))
}

/// Whether what is known of a host seems to be all of it, so that a path follows: `https://api.example.org` + path.
fn is_whole(authority: &str) -> bool {
    let last = authority.rsplit_once('.').map_or("", |(_, last)| last);
    last.len() > 1 && last.chars().all(|c| c.is_ascii_alphabetic())
}

/// Few enough to read: many paths of one host become all of it, and a rule for any host covers the others.
fn folded(rules: Rules) -> Rules {
    let origin = |url: &str| url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    rules.keys().for_each(|url| *count.entry(origin(url)).or_default() += 1);
    let mut made = Rules::new();
    for (url, asked) in rules {
        let whole = format!("{}/*", origin(&url));
        let url = if count.get(&origin(&url)).is_some_and(|paths| *paths > MOST_PATHS) { whole } else { url };
        let kept = made.entry(url).or_default();
        kept.methods.extend(asked.methods);
        kept.places.extend(asked.places);
        kept.why = kept.why.or(asked.why);
    }
    let covers = |wide: &str, asked: &Asked, url: &str, other: &Asked| {
        let start = wide.strip_suffix('*').is_some_and(|start| url.starts_with(start));
        start && wide != url && other.methods.is_subset(&asked.methods)
    };
    let covered: Vec<String> = made
        .iter()
        .filter(|(url, other)| made.iter().any(|(wide, asked)| covers(wide, asked, url, other)))
        .map(|(url, _)| url.clone())
        .collect();
    made.retain(|url, _| !covered.contains(url));
    if made.len() > MOST_RULES {
        let mut one = Asked { why: Some(FROM_PARAMS), ..Asked::default() };
        for asked in made.into_values() {
            one.methods.extend(asked.methods);
            one.places.extend(asked.places);
        }
        return [(ANY.to_owned(), one)].into();
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_url_becomes_a_rule() {
        assert_eq!(rule_url("https://api.x.io/v1/a?b=1", true).as_deref(), Some("https://api.x.io/v1/a"));
        assert_eq!(rule_url("https://api.x.io/v1/\0", true).as_deref(), Some("https://api.x.io/v1/*"));
        assert_eq!(rule_url("https://api.x.io", true).as_deref(), Some("https://api.x.io/*"));
        assert_eq!(rule_url("HTTPS://api.x.io/v1", false).as_deref(), Some("https://api.x.io/v1*"));
        assert_eq!(rule_url("https://u:p@api.x.io/", true).as_deref(), Some("https://api.x.io/"));
        assert_eq!(rule_url("https://\0/v1", true), None);
        assert_eq!(rule_url("https://api.\0", true), None);
        assert_eq!(rule_url("https://api\0", true), None);
        assert_eq!(rule_url("https://api.x.io\0", true).as_deref(), Some("https://api.x.io/*"));
    }

    #[test]
    fn a_url_that_no_rule_can_hold_is_not_guessed() {
        assert_eq!(rule_url("https://a b/", true), None);
        assert_eq!(rule_url("https://x.io/\u{e9}%zz", true).as_deref(), Some("https://x.io/*"));
    }
}
