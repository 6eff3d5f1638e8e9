//! The rules of a call, and the decision about one request. Deny beats allow; what no rule allows is denied.

use super::allowed::{Allowed, AllowedRequest, RuleId};
use super::host::HostPattern;
use super::http::HttpRule;
use super::method::{self, BadMethod};
use super::path::Ambiguity;
use super::quote::{brief, shell};
use super::url::Target;

/// Allow rules, and deny rules that override them. The default allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpRules {
    pub allow: Vec<HttpRule>,
    pub deny: Vec<HttpRule>,
}

/// The part of a request that the closest rule doesn't match, in the order in which parts are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HttpPart {
    Host,
    Scheme,
    Port,
    Path,
    Method,
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpDenial {
    #[error(transparent)]
    Method(BadMethod),
    #[error("`{asked}` is denied by the rule `{rule}`")]
    Denied { asked: String, rule: Box<HttpRule>, id: RuleId },
    #[error("no rule allows `{asked}`: {}", why_not(*part, *ambiguity, closest.as_deref(), suggested))]
    NotAllowed {
        asked: String,
        /// The part that the closest rule doesn't match; `Host` if no rule is for this host.
        part: HttpPart,
        /// If set, only a rule for every path can allow it.
        ambiguity: Option<Ambiguity>,
        closest: Option<Box<HttpRule>>,
        /// The rule that would allow it.
        suggested: Box<HttpRule>,
    },
}

/// Why no request to a host and port can be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectDenial<'r> {
    /// This rule denies every request to it.
    Denied(RuleId, &'r HttpRule),
    /// No rule is for this host and port; if given, this rule is for the host at another port.
    NotAllowed(Option<&'r HttpRule>),
}

impl HttpDenial {
    /// The flag that would allow the request, if there is one; `None` for hosts that need a warning instead.
    pub fn flag(&self) -> Option<String> {
        match self {
            HttpDenial::NotAllowed { suggested, .. } if suggested.host.warning().is_none() => {
                Some(format!("--allow-http {}", shell(&suggested.to_string())))
            }
            HttpDenial::NotAllowed { .. } | HttpDenial::Method(_) | HttpDenial::Denied { .. } => None,
        }
    }

    /// What the operator can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            HttpDenial::NotAllowed { suggested, .. } => {
                suggested.host.warning().or_else(|| self.flag().map(|flag| format!("`{flag}` would allow it")))
            }
            HttpDenial::Denied { .. } => {
                Some("no flag overrides a rule in `deny_http`; it would have to go from `skillcell.toml`".into())
            }
            HttpDenial::Method(BadMethod::LowerCase(_)) => Some("write the method in upper case".into()),
            HttpDenial::Method(_) => None,
        }
    }
}

impl HttpRules {
    pub fn new(allow: Vec<HttpRule>, deny: Vec<HttpRule>) -> HttpRules {
        HttpRules { allow, deny }
    }

    /// Decides about a request. Nothing else allows one.
    pub fn decide(&self, method: &str, target: &Target) -> Result<AllowedRequest, HttpDenial> {
        method::check_method(method).map_err(HttpDenial::Method)?;
        if let Some(index) = self.deny.iter().position(|rule| rule.denies(method, target)) {
            let (asked, rule) = (describe_request(method, target), Box::new(self.deny[index].clone()));
            return Err(HttpDenial::Denied { asked, rule, id: RuleId { denies: true, index } });
        }
        let index = self.allow.iter().position(|rule| rule.matches(method, target));
        let by = self.allowed_by(index.ok_or_else(|| self.closest_denial(method, target))?);
        Ok(AllowedRequest { method: method.to_owned(), target: target.clone(), by })
    }

    /// The rule with this id; `None` if the id is out of range.
    pub fn get(&self, id: RuleId) -> Option<&HttpRule> {
        let rules = if id.denies { &self.deny } else { &self.allow };
        rules.get(id.index)
    }

    fn allowed_by(&self, index: usize) -> Allowed {
        let rule = self.allow.get(index).map(ToString::to_string).unwrap_or_default();
        Allowed { id: RuleId { denies: false, index }, rule }
    }

    /// A host's name may be looked up if any allow rule is for that host, whatever the request.
    pub fn decide_lookup(&self, target: &Target) -> Option<Allowed> {
        let index = self.allow.iter().position(|rule| rule.host.matches(target.host()));
        index.map(|index| self.allowed_by(index))
    }

    /// Decides about a connection, before any request is known: gives the first rule that could allow a request to this
    /// host and port. If there is none, the rule that denies all of it, or the first one for that host at another port.
    pub fn decide_connect(&self, target: &Target) -> Result<Allowed, ConnectDenial<'_>> {
        let denied = |rule: &HttpRule| {
            let here = HttpRule { host: HostPattern::Exact(target.host().clone()), ..rule.clone() };
            self.deny.iter().position(|deny| deny.denies_all(&here))
        };
        let for_host = || self.allow.iter().enumerate().filter(|(_, rule)| rule.host.matches(target.host()));
        let mut for_port = for_host().filter(|(_, rule)| rule.port == target.port());
        if let Some((index, _)) = for_port.clone().find(|(_, rule)| denied(rule).is_none()) {
            return Ok(self.allowed_by(index));
        }
        Err(match for_port.find_map(|(_, rule)| denied(rule)) {
            Some(index) => ConnectDenial::Denied(RuleId { denies: true, index }, &self.deny[index]),
            None => ConnectDenial::NotAllowed(for_host().next().map(|(_, rule)| rule)),
        })
    }

    fn closest_denial(&self, method: &str, target: &Target) -> HttpDenial {
        let failures = self.allow.iter().map(|rule| (failing_part(rule, target), rule));
        // Reversed, because `max_by_key` returns the last of equals: the first of equally close rules wins.
        let (part, closest) = failures
            .filter(|(part, _)| *part != HttpPart::Host)
            .rev()
            .max_by_key(|(part, _)| *part)
            .map_or((HttpPart::Host, None), |(part, rule)| (part, Some(Box::new(rule.clone()))));
        let suggested = Box::new(HttpRule::suggested_for(method, target));
        let ambiguity = target.match_path().ambiguity();
        HttpDenial::NotAllowed { asked: describe_request(method, target), part, ambiguity, closest, suggested }
    }
}

fn describe_request(method: &str, target: &Target) -> String {
    brief(&format!("{method} {target}"))
}

/// The first part of `target` that the rule doesn't match; `Method` if all the others match.
fn failing_part(rule: &HttpRule, target: &Target) -> HttpPart {
    if !rule.host.matches(target.host()) {
        HttpPart::Host
    } else if rule.scheme != target.scheme() {
        HttpPart::Scheme
    } else if rule.port != target.port() {
        HttpPart::Port
    } else if !rule.path.matches(target.match_path()) {
        HttpPart::Path
    } else {
        HttpPart::Method
    }
}

fn why_not(part: HttpPart, ambiguity: Option<Ambiguity>, closest: Option<&HttpRule>, wanted: &HttpRule) -> String {
    let Some(rule) = closest else {
        return format!("there is none for the host `{}`", wanted.host);
    };
    match part {
        HttpPart::Host => format!("`{rule}` is not for the host `{}`", wanted.host),
        HttpPart::Scheme => format!("`{rule}` is for {}, not {}", rule.scheme, wanted.scheme),
        HttpPart::Port => format!("`{rule}` is for port {}, not {}", rule.port, wanted.port),
        HttpPart::Path => match ambiguity {
            Some(ambiguity) => format!("the path has {ambiguity}, which only a rule for every path (`/*`) allows"),
            None => format!("the path is not under `{}` of `{rule}`", rule.path),
        },
        HttpPart::Method => format!("the method {} is not in `{rule}`", wanted.methods),
    }
}
