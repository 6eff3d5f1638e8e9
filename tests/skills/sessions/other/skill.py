from skillware.core.base_skill import BaseSkill


class Other(BaseSkill):
    manifest = {}

    def execute(self, params):
        return "other"
