//! Implements the HTTP client's [`Gate`] with policy's rules, and keeps each denial.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::denials::Denials;
use skillcell_http::{Asked, Gate, Place, Refusal};
use skillcell_policy::{
    Allowed, AllowedRequest, ConnectDenial, DecidedBy, Denial, Grants, HttpDenial, HttpRule, HttpRules, NO_RULE,
    Origin, Resolve, Scheme, Target, decide_address, decide_name,
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

    /// May the name of this host be looked up?
    pub fn decide_lookup(&self, target: &Target) -> Option<Allowed> {
        self.rules.decide_lookup(target)
    }

    fn deciding_rule(&self, place: &Place, allowed: &Allowed) -> Result<&HttpRule, Refusal> {
        self.rules.get(allowed.id()).ok_or_else(|| unnamable_host(place))
    }

    /// The operator's `--resolve` entry for a host, at any port.
    pub fn any_resolve(&self, target: &Target) -> Option<&Resolve> {
        self.resolve.iter().find(|entry| entry.host() == target.host())
    }

    /// May this address be revealed, or connected to?
    fn check_address(&self, target: &Target, rule: &HttpRule, addr: IpAddr) -> Result<(), Box<Denial>> {
        let from = match (Resolve::find(&self.resolve, target), target.host().addr()) {
            (Some(entry), _) => Origin::Resolve(entry),
            (None, Some(_)) => Origin::Literal,
            (None, None) => Origin::Dns,
        };
        decide_address(target, rule, from, addr)
            .map_err(|denial| Box::new(Denial::address("connect to", &target.origin(), &denial)))
    }

    /// May a proxy be asked for this host, whose address is not known here?
    fn check_unresolved(&self, target: &Target, rule: &HttpRule) -> Result<(), Box<Denial>> {
        match target.host().addr() {
            Some(addr) => self.check_address(target, rule, addr),
            None => decide_name(target.host())
                .map_err(|denial| Box::new(Denial::name("connect to", &target.origin(), &denial))),
        }
    }

    /// May this address be returned for a name?
    pub fn check_found(&self, target: &Target, allowed: &Allowed, addr: IpAddr) -> Result<(), Box<Denial>> {
        match self.rules.get(allowed.id()) {
            Some(rule) => self.check_address(target, rule, addr),
            None => Err(Box::new(super::not_granted(&target.host().to_string(), None))),
        }
    }

    /// May a name be left to a proxy?
    pub fn check_left(&self, target: &Target, allowed: &Allowed) -> Result<(), Box<Denial>> {
        match self.rules.get(allowed.id()) {
            Some(rule) => self.check_unresolved(target, rule),
            None => Err(Box::new(super::not_granted(&target.host().to_string(), None))),
        }
    }

    /// Records that a name is about to be looked up.
    pub fn record_lookup(&self, name: &str, allowed: &Allowed) -> Result<(), Refusal> {
        self.denials.record_lookup(name, Ok(allowed))
    }

    /// Like [`refuse`](Self::refuse), for a name lookup.
    pub fn refuse_name(&self, name: &str, denial: Denial) -> Refusal {
        let _ = self.denials.record_lookup(name, Err(&denial));
        self.refuse(denial, DecidedBy::Default)
    }

    pub fn refuse(&self, denial: Denial, by: DecidedBy) -> Refusal {
        // A denial names the closest rule for the message, even if no rule decided.
        let rule = denial.rule.clone().filter(|_| by != DecidedBy::Default).unwrap_or_else(|| NO_RULE.to_owned());
        let refusal = Refusal { rule, by, message: denial.message.clone(), hint: denial.hint.clone() };
        self.denials.add(denial);
        refusal
    }
}

/// A place as policy's type. The scheme is arbitrary; only host and port are used.
fn policy_target(place: &Place) -> Option<Target> {
    Target::from_parts(Scheme::Https, &place.to_string(), "/").ok()
}

fn unnamable_host(place: &Place) -> Refusal {
    Refusal::by_builtin_check("host", format!("`{place}` is not a host that rules can name"))
}

impl Gate for PolicyGate {
    fn connect(&self, place: &Place) -> Result<Allowed, Refusal> {
        let target = policy_target(place).ok_or_else(|| unnamable_host(place))?;
        self.rules.decide_connect(&target).map_err(|denial| {
            let by = match denial {
                ConnectDenial::Denied(id, _) => DecidedBy::Rule(id),
                ConnectDenial::NotAllowed(_) => DecidedBy::Default,
            };
            self.refuse(super::no_connection(place.host(), place.port(), denial), by)
        })
    }

    fn request(&self, asked: &Asked) -> Result<AllowedRequest, Refusal> {
        let refuse_url = |bad| self.refuse(Denial::url(&asked.method, &asked.url(), &bad), DecidedBy::Default);
        let target = asked.target().map_err(refuse_url)?;
        self.rules.decide(&asked.method, &target).map_err(|denial| {
            let told = Denial::http(&asked.method, &asked.url(), &denial);
            let by = match denial {
                HttpDenial::Denied { id, .. } => DecidedBy::Rule(id),
                HttpDenial::NotAllowed { .. } | HttpDenial::Method(_) => DecidedBy::Default,
            };
            self.refuse(told, by)
        })
    }

    fn address(&self, place: &Place, allowed: &Allowed, address: IpAddr) -> Result<(), Refusal> {
        let target = policy_target(place).ok_or_else(|| unnamable_host(place))?;
        let checked = self.check_address(&target, self.deciding_rule(place, allowed)?, address);
        checked.map_err(|denial| self.refuse(*denial, DecidedBy::Default))
    }

    fn unresolved(&self, place: &Place, allowed: &Allowed) -> Result<(), Refusal> {
        let target = policy_target(place).ok_or_else(|| unnamable_host(place))?;
        let checked = self.check_unresolved(&target, self.deciding_rule(place, allowed)?);
        checked.map_err(|denial| self.refuse(*denial, DecidedBy::Default))
    }

    fn resolve(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let place = Place::parse(host, port).ok()?;
        let entry = Resolve::find(&self.resolve, &policy_target(&place)?)?;
        Some(SocketAddr::new(entry.addr(), entry.to_port()))
    }
}
