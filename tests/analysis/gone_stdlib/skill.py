import telnetlib
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"text": telnetlib.Telnet(params["host"]).read_all().decode()}
