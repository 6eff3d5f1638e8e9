//! Proof types for what the rules allow. Only `HttpRules` can construct them, so a function that takes one can't be
//! called with a request that was never checked.

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

/// What decided about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// One of the call's rules.
    Rule(RuleId),
    /// None of them: what no rule allows is denied.
    Default,
    /// A check that is built in, and that no rule can override.
    Check,
}

/// Evidence that an allow rule matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    pub(super) id: RuleId,
    pub(super) rule: String,
}

impl Allowed {
    pub fn id(&self) -> RuleId {
        self.id
    }

    /// The rule's text, for messages and the audit log.
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
    /// Whether the approval is for exactly this request.
    pub fn is_for(&self, method: &str, target: &Target) -> bool {
        self.method == method && self.target == *target
    }

    /// The rule that allowed it.
    pub fn by(&self) -> &Allowed {
        &self.by
    }
}
