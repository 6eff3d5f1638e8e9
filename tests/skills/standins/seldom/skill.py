from skillware.core.base_skill import BaseSkill


class Seldom(BaseSkill):
    manifest = {}

    def execute(self, params):
        if params.get("use"):
            from rpds import List

            return len(List([1, 0, 1]))
