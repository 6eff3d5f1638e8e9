from skillware.core.base_skill import BaseSkill

from .inner import divide


class Failing(BaseSkill):
    manifest = {}

    def execute(self, params):
        print("before it fails")
        return divide(1, 0)
