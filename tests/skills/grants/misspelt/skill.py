"""Its manifest has a permission that does not exist."""

from skillware.core.base_skill import BaseSkill


class MisspeltSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return "ran"
