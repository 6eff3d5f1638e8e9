from skillware.core.base_skill import BaseSkill


class Polite(BaseSkill):
    manifest = {}

    def execute(self, params):
        return sum(range(params.get("count", 1000)))
