//! Proofs of what rules allow. Only `HttpRules` makes them, so who asks for one can't be given anything that was not
//! decided about.

use super::url::Target;

/// Which of a call's rules decided: a place in [`HttpRules::allow`](super::HttpRules) or in `deny`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleId {
    pub(super) denies: bool,
    pub(super) index: usize,
}

impl RuleId {
    pub fn denies(self) -> bool {
        self.denies
    }

    pub fn index(self) -> usize {
        self.index
    }
}

/// A rule's yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    pub(super) id: RuleId,
    pub(super) rule: String,
}

impl Allowed {
    pub fn id(&self) -> RuleId {
        self.id
    }

    /// The rule, for people.
    pub fn rule(&self) -> &str {
        &self.rule
    }
}

/// A request that a rule allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedRequest {
    pub(super) method: String,
    pub(super) target: Target,
    pub(super) by: Allowed,
}

impl AllowedRequest {
    /// Whether it is this request that was allowed, and no other.
    pub fn is_for(&self, method: &str, target: &Target) -> bool {
        self.method == method && self.target == *target
    }

    /// The yes that it goes by.
    pub fn by(&self) -> &Allowed {
        &self.by
    }
}
