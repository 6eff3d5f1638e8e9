import smtplib as post
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with post.SMTP("mail.example.org", 587) as server:
            server.sendmail("a@example.org", params["to"], params["text"])
        return {"sent": True}
