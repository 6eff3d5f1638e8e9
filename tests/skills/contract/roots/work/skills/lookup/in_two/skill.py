from skillware.core.base_skill import BaseSkill


class Found(BaseSkill):
    manifest = {}

    def execute(self, params):
        return "working folder"
