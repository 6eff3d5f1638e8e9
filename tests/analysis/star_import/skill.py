from subprocess import *
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"out": check_output(["date"]).decode()}
