//! Records requests, name lookups and secrets.

use super::grants::Decider;
use super::trail::{NotRecorded, Trail};
use super::{Event, Line};
use skillcell_http::{self as http, Refusal};
use skillcell_policy::{Allowed, DecidedBy, Denial, GrantKind, NO_RULE};

impl From<NotRecorded> for Refusal {
    fn from(why: NotRecorded) -> Refusal {
        Refusal::by_builtin_check("audit", why.to_string())
    }
}

impl Trail {
    /// Records an event of the HTTP client. On an error, the client must not do what it was about to do.
    pub fn record_http(&self, event: &http::Event) -> Result<(), Refusal> {
        match event {
            http::Event::Decided { method, url, allowed, rule, by, reason } => {
                let asked = match method {
                    Some(method) => format!("{method} {url}"),
                    None => format!("connect to {}", url.trim_start_matches('/')),
                };
                let event = if method.is_none() && *allowed { Event::Connect } else { Event::Http };
                let line = Line { asked: Some(asked), reason: reason.clone(), ..self.new_line(event) };
                self.record_decision(*allowed, self.http_rule(rule, *by).add_to(line))
            }
            http::Event::Secret { name, host, tls, address } => {
                let line = Line {
                    asked: Some(format!("{name}@{host}")),
                    address: Some(address.to_string()),
                    secrets: vec![name.clone()],
                    ..self.new_line(Event::Secret)
                };
                let decider = self.rules.get().and_then(|rules| rules.secret_grant(name, host, *tls));
                self.record_decision(true, decider.map_or(line.clone(), |decider| decider.add_to(line)))
            }
            http::Event::SecretWithheld { name, host, reason } => {
                self.record_denied(Line {
                    asked: Some(format!("{name}@{host}")),
                    reason: Some(reason.clone()),
                    from: Some("default".to_owned()),
                    secrets: vec![name.clone()],
                    ..self.new_line(Event::Secret)
                });
                Ok(())
            }
            http::Event::Finished { method, url, address, status, error, secrets, bytes_up, bytes_down, ms } => {
                self.write_line(Line {
                    asked: Some(format!("{method} {url}")),
                    address: address.map(|address| address.to_string()),
                    status: *status,
                    error: error.map(str::to_owned),
                    secrets: secrets.clone(),
                    bytes_sent: Some(*bytes_up),
                    bytes_received: Some(*bytes_down),
                    ms: Some(*ms),
                    ..self.new_line(Event::HttpEnd)
                });
                Ok(())
            }
        }
    }

    /// Records that a name is about to be looked up (`Ok` with the rule), or was refused.
    pub fn record_lookup(&self, host: &str, decision: Result<&Allowed, &Denial>) -> Result<(), Refusal> {
        let (rule, by, reason) = match decision {
            Ok(allowed) => (allowed.rule(), DecidedBy::Rule(allowed.id()), None),
            Err(denial) => (NO_RULE, DecidedBy::Default, Some(denial.message.clone())),
        };
        let line = Line { asked: Some(format!("look up {host}")), reason, ..self.new_line(Event::Name) };
        self.record_decision(decision.is_ok(), self.http_rule(rule, by).add_to(line))
    }

    fn record_decision(&self, allowed: bool, line: Line) -> Result<(), Refusal> {
        match allowed {
            true => Ok(self.record_allowed(line)?),
            false => {
                self.record_denied(line);
                Ok(())
            }
        }
    }

    /// The source of a rule: the operator's rules, the default, or a built-in check.
    fn http_rule(&self, rule: &str, by: DecidedBy) -> Decider {
        let other = |from: &str| Decider { rule: rule.to_owned(), from: from.to_owned(), place: None };
        match by {
            DecidedBy::Rule(id) => {
                let kind = if id.denies() { GrantKind::DenyHttp } else { GrantKind::AllowHttp };
                let known = self.rules.get().and_then(|rules| rules.find_rule(kind, id.index()));
                known.unwrap_or_else(|| other("check"))
            }
            DecidedBy::Default => other("default"),
            DecidedBy::Check => other("check"),
        }
    }
}
