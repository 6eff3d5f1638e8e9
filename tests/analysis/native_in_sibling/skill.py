from helpers import vision
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return vision.describe(params["image"])
