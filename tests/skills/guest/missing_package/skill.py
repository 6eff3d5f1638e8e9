import nobody_has_this
from skillware.core.base_skill import BaseSkill


class MissingPackage(BaseSkill):
    manifest = {}

    def execute(self, params):
        return nobody_has_this.answer()
