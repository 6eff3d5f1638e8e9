//! Policy as the HTTP client asks for it: each question is turned into policy's own terms, each no is kept.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::denials::Denials;
use crate::http::{Asked, Gate, Granted, Place, Refusal};
use crate::policy::{
    Denial, Grants, HttpDenial, HttpRule, HttpRules, NO_RULE, Origin, Resolve, Scheme, Target, decide_address,
    decide_name,
};

/// The rules of one call.
pub struct PolicyGate {
    rules: HttpRules,
    resolve: Vec<Resolve>,
    denials: Arc<Denials>,
}

impl PolicyGate {
    pub fn new(grants: &Grants, denials: Arc<Denials>) -> PolicyGate {
        PolicyGate { rules: grants.http.clone(), resolve: grants.resolve.clone(), denials }
    }

    /// The first rule that is for this host, whatever the request.
    pub fn rule_for(&self, target: &Target) -> Option<&HttpRule> {
        self.rules.allow.iter().find(|rule| rule.host().matches(target.host()))
    }

    /// Where the operator says that a name leads, at whatever port.
    pub fn any_resolve(&self, target: &Target) -> Option<&Resolve> {
        self.resolve.iter().find(|entry| entry.host() == target.host())
    }

    /// May this address be told, or connected to?
    pub fn check_address(&self, target: &Target, rule: &HttpRule, addr: IpAddr) -> Result<(), Box<Denial>> {
        let from = match (Resolve::find(&self.resolve, target), target.host().addr()) {
            (Some(entry), _) => Origin::Resolve(entry),
            (None, Some(_)) => Origin::Literal,
            (None, None) => Origin::Dns,
        };
        decide_address(target, rule, from, addr)
            .map_err(|denial| Box::new(Denial::address("connect to", &target.origin(), &denial)))
    }

    /// May a proxy be asked for this host, of which nobody here sees the address?
    pub fn check_unresolved(&self, target: &Target, rule: &HttpRule) -> Result<(), Box<Denial>> {
        match target.host().addr() {
            Some(addr) => self.check_address(target, rule, addr),
            None => decide_name(target.host())
                .map_err(|denial| Box::new(Denial::name("connect to", &target.origin(), &denial))),
        }
    }

    /// May this name be looked up, by this rule?
    pub fn look_up(&self, name: &str, rule: &HttpRule) -> Result<(), Refusal> {
        self.denials.tell_name(name, Ok(&rule.to_string()))
    }

    /// As [`refuse`](Self::refuse), where it was asked about a name.
    pub fn refuse_name(&self, name: &str, denial: Denial) -> Refusal {
        let _ = self.denials.tell_name(name, Err(&denial));
        self.refuse(denial)
    }

    pub fn refuse(&self, denial: Denial) -> Refusal {
        let rule = denial.rule.clone().unwrap_or_else(|| NO_RULE.to_owned());
        let refusal = Refusal { rule, message: denial.message.clone(), hint: denial.hint.clone() };
        self.denials.add(denial);
        refusal
    }
}

/// A place as policy sees it. Which scheme does not matter where only host and port do.
fn target(place: &Place) -> Option<Target> {
    Target::from_parts(Scheme::Https, &place.to_string(), "/").ok()
}

fn unreadable(place: &Place) -> Refusal {
    Refusal { rule: "host".to_owned(), message: format!("`{place}` is not a host that rules can name"), hint: None }
}

impl Gate for PolicyGate {
    fn connect(&self, place: &Place) -> Result<Granted, Refusal> {
        let target = target(place).ok_or_else(|| unreadable(place))?;
        match self.rules.connect(&target) {
            Ok(rule) => Ok(Granted { rule: rule.to_string() }),
            Err(denial) => Err(self.refuse(super::no_connection(place.host(), place.port(), denial))),
        }
    }

    fn request(&self, asked: &Asked) -> Result<Granted, Refusal> {
        let target = asked.target().map_err(|bad| self.refuse(Denial::url(&asked.method, &asked.url(), &bad)))?;
        match self.rules.decide(&asked.method, &target) {
            Ok(rule) => Ok(Granted { rule: rule.to_string() }),
            Err(denial) => {
                let refusal = self.refuse(Denial::http(&asked.method, &asked.url(), &denial));
                // The denial has the rule that came closest. It is not that rule that decided.
                let decided = matches!(denial, HttpDenial::Denied { .. });
                Err(if decided { refusal } else { Refusal { rule: NO_RULE.to_owned(), ..refusal } })
            }
        }
    }

    fn address(&self, place: &Place, granted: &Granted, address: IpAddr) -> Result<(), Refusal> {
        let target = target(place).ok_or_else(|| unreadable(place))?;
        let rule = self.rules.allow.iter().find(|rule| rule.to_string() == granted.rule);
        let checked = self.check_address(&target, rule.ok_or_else(|| unreadable(place))?, address);
        checked.map_err(|denial| self.refuse(*denial))
    }

    fn unresolved(&self, place: &Place, granted: &Granted) -> Result<(), Refusal> {
        let target = target(place).ok_or_else(|| unreadable(place))?;
        let rule = self.rules.allow.iter().find(|rule| rule.to_string() == granted.rule);
        let checked = self.check_unresolved(&target, rule.ok_or_else(|| unreadable(place))?);
        checked.map_err(|denial| self.refuse(*denial))
    }

    fn resolve(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let place = Place::parse(host, port).ok()?;
        let entry = Resolve::find(&self.resolve, &target(&place)?)?;
        Some(SocketAddr::new(entry.addr(), entry.to_port()))
    }
}
