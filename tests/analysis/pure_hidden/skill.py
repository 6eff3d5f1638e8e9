import unheard_of_package
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"x": unheard_of_package.f()}
