//! What approving a skill means for a call of it: the grant of what was asked for, in the state that was approved; and in
//! any other state, a refusal.

use std::borrow::Cow;

use super::{Host, HostError};
use crate::approvals::{Approval, Approvals, Difference, Standing};
use crate::call::Call;
use crate::policy::{Denial, DenialKind, Grants, Permissions};
use crate::skill::Skill;

impl Host {
    /// The call with what was approved as the first layer of its grants; or why a call is not made.
    pub(super) fn approved<'a>(
        &self,
        skill: &Skill,
        call: &'a Call,
    ) -> Result<Result<Cow<'a, Call>, Denial>, HostError> {
        let Some(approvals) = &self.shared.approvals else { return Ok(Ok(Cow::Borrowed(call))) };
        match approvals.standing(skill)? {
            Standing::Unknown => Ok(Ok(Cow::Borrowed(call))),
            Standing::Approved(approval) => {
                let mut call = call.clone();
                call.refuse_imports = false;
                call.grants = Grants::of_approval(&approval.permissions).overruled_by(call.grants);
                Ok(Ok(Cow::Owned(call)))
            }
            Standing::Changed(approval) => Ok(Err(self.no_longer(approvals, &approval, skill)?)),
        }
    }

    /// The approvals that calls go by.
    pub fn approvals(&self) -> Option<&Approvals> {
        self.shared.approvals.as_ref()
    }

    fn no_longer(&self, approvals: &Approvals, approval: &Approval, skill: &Skill) -> Result<Denial, HostError> {
        let manifest = self.look(skill)?;
        let asked = manifest["manifest"].get("permissions").map(Permissions::parse).transpose();
        // What it asks for may be unreadable; that its files changed can always be told.
        let asked = asked.ok().map(Option::unwrap_or_default).unwrap_or_else(|| approval.permissions.clone());
        let difference = Difference::between(approval, skill, &asked);
        let command = approvals.command(skill);
        Ok(Denial {
            kind: DenialKind::Approval,
            asked: skill.digest().to_owned(),
            rule: Some(approval.digest.clone()),
            message: format!("it was approved in another state: {}", difference.message()),
            hint: Some(format!(
                "`{command}` shows what differs, and approves it as it is now if you agree; with `--revoke` the approval is \
                 forgotten, and flags decide"
            )),
            flag: None,
        })
    }
}
