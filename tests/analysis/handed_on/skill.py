from skillware.core.base_skill import BaseSkill

from .common import find
from .other import find as look


class Case(BaseSkill):
    def execute(self, params):
        return {"found": find(look(params["name"]))}
