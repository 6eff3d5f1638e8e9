//! Records a call's grants, and looks up where a rule that decided was written.

use std::sync::Arc;

use super::trail::Trail;
use super::{AuditError, Event, Line};
use skillcell_http::Scrubber;
use skillcell_policy::{Denial, Effective, GrantKind, Grants, MountGrant, Scheme, SecretGrant, Target, Written};

/// A rule in effect, and the grant that it comes from.
struct Rule {
    kind: GrantKind,
    text: String,
    granted: String,
    written: Written,
}

/// The rules in effect in a call.
#[derive(Default)]
pub struct Rules {
    rules: Vec<Rule>,
    mounts: Vec<MountGrant>,
    secrets: Vec<SecretGrant>,
}

/// The rule that decided, as a line shows it.
pub struct Decider {
    pub rule: String,
    pub from: String,
    pub place: Option<String>,
}

impl Decider {
    pub fn add_to(self, line: Line) -> Line {
        Line { rule: Some(self.rule), from: Some(self.from), place: self.place, ..line }
    }

    fn new(kind: GrantKind, rule: &str, written: &Written) -> Decider {
        let place = match written {
            Written::Flag => Some(kind.flag()),
            Written::File { path, line } if path.is_empty() => Some(format!("line {line}")),
            Written::File { path, line } => Some(format!("{path}:{line}")),
            _ => None,
        };
        Decider { rule: rule.to_owned(), from: written.name().to_owned(), place }
    }
}

impl Rules {
    fn from_grants(granted: &Grants, held: &Grants) -> Rules {
        let mut rules = Vec::new();
        for kind in GrantKind::ALL {
            for (index, text) in held.texts(kind).into_iter().enumerate() {
                let from = granted_text(kind, index, granted, held).unwrap_or_else(|| text.clone());
                let written = granted.place_of(kind, &from).clone();
                rules.push(Rule { kind, text, granted: from, written });
            }
        }
        Rules { rules, mounts: held.mounts.clone(), secrets: held.secrets.clone() }
    }

    /// A rule, by its index among those of its kind.
    pub fn find_rule(&self, kind: GrantKind, index: usize) -> Option<Decider> {
        let rule = self.rules.iter().filter(|rule| rule.kind == kind).nth(index)?;
        Some(Decider::new(kind, &rule.text, &rule.written))
    }

    /// The grant of the folder that a path is in.
    pub fn mount_grant(&self, path: &str) -> Option<Decider> {
        let within = |(_, mount): &(usize, &MountGrant)| {
            let point = mount.guest.as_str();
            path.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || point == "/")
        };
        let mounts = self.mounts.iter().enumerate().filter(within);
        let (index, _) = mounts.max_by_key(|(_, mount)| mount.guest.as_str().len())?;
        self.find_rule(GrantKind::Mount, index)
    }

    /// The grant that allows a secret to go to a host.
    pub fn secret_grant(&self, name: &str, host: &str, tls: bool) -> Option<Decider> {
        let scheme = if tls { Scheme::Https } else { Scheme::Http };
        let target = Target::from_parts(scheme, host, "/").ok()?;
        let hosts = self.secrets.iter().flat_map(|secret| secret.hosts.iter().map(move |host| (secret, host)));
        let index = hosts.enumerate().find(|(_, (secret, host))| secret.name == name && host.matches(&target))?.0;
        self.find_rule(GrantKind::Secret, index)
    }
}

/// The original grant of a rule in effect, which may have been narrowed to what the skill asks for.
fn granted_text(kind: GrantKind, index: usize, granted: &Grants, held: &Grants) -> Option<String> {
    match kind {
        GrantKind::AllowHttp => {
            let rule = held.http.allow.get(index)?;
            granted.http.allow.iter().find(|grant| grant.covers(rule)).map(ToString::to_string)
        }
        GrantKind::Mount => {
            let mount = held.mounts.get(index)?;
            granted.mounts.iter().find(|grant| grant.guest == mount.guest).map(ToString::to_string)
        }
        GrantKind::Secret => {
            let mut hosts = held.secrets.iter().flat_map(|secret| secret.hosts.iter().map(move |host| (secret, host)));
            let (secret, host) = hosts.nth(index)?;
            let grant = granted.secrets.iter().find(|grant| grant.name == secret.name)?;
            let at = grant.hosts.iter().position(|wider| wider.covers(host))?;
            grant.texts().nth(at)
        }
        _ => None,
    }
}

impl Trail {
    /// Records the grants in effect, the requested permissions that are missing, and the grants that are unused. From here
    /// on, lines are scrubbed of the call's secrets.
    pub fn record_grants(
        &self,
        granted: &Grants,
        effective: &Effective,
        scrubber: Option<&Arc<Scrubber>>,
    ) -> Result<(), AuditError> {
        if let Some(scrubber) = scrubber {
            let _ = self.scrubber.set(scrubber.clone());
        }
        if self.is_null() {
            return Ok(());
        }
        let rules = self.rules.get_or_init(|| Rules::from_grants(granted, &effective.grants));
        for rule in &rules.rules {
            let line = Line { asked: Some(keyed_text(rule.kind, &rule.text)), ..self.new_line(Event::Grant) };
            // If the log is full, the first allowed action reports it.
            let _ = self.record_allowed(Decider::new(rule.kind, &rule.granted, &rule.written).add_to(line));
        }
        for missing in &effective.missing {
            self.record_missing(&Denial::from(missing));
        }
        for text in &effective.unused {
            self.record_denied(Line {
                asked: Some(text.clone()),
                reason: Some("it is granted, but the skill does not ask for it".to_owned()),
                from: Some("default".to_owned()),
                ..self.new_line(Event::Grant)
            });
        }
        self.take_failure()
    }

    /// Records what kept the call from being made.
    pub fn record_refused(&self, denials: &[Denial]) -> Result<(), AuditError> {
        denials.iter().for_each(|denial| self.record_missing(denial));
        self.take_failure()
    }

    fn record_missing(&self, denial: &Denial) {
        self.record_denied(Line {
            asked: Some(denial.asked.clone()),
            rule: denial.rule.clone(),
            from: Some(if denial.rule.is_some() { "policy" } else { "default" }.to_owned()),
            reason: Some(denial.message.clone()),
            ..self.new_line(Event::Grant)
        });
    }
}

/// A grant with its kind, as the policy file would have it.
fn keyed_text(kind: GrantKind, text: &str) -> String {
    format!("{} {text}", kind.key())
}
