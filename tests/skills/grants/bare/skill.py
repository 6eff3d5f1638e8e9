"""Its constructor takes nothing, so there is no config to put a key into."""

from skillware.core.base_skill import BaseSkill


class BareSkill(BaseSkill):
    def __init__(self):
        super().__init__()

    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return {"key": self.credential("API_KEY"), "config": self.config}
