from skillware.core.base_skill import BaseSkill


class BadManifest(BaseSkill):
    manifest = {}

    def execute(self, params):
        return params.get("text")
