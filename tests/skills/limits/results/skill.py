from skillware.core.base_skill import BaseSkill


class Results(BaseSkill):
    manifest = {}

    def execute(self, params):
        return "x" * params["length"]
