from skillware.core.base_skill import BaseSkill


class Strict(BaseSkill):
    manifest = {}

    def execute(self, params):
        return params.get("text")
