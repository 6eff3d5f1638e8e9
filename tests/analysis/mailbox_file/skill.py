import mailbox

from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"messages": len(mailbox.mbox("mail.mbox"))}
