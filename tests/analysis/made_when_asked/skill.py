from skillware.core.base_skill import BaseSkill

from engine import Engine


class Case(BaseSkill):
    def execute(self, params):
        return {"device": Engine().device()}
