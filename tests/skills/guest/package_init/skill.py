from skillware.core.base_skill import BaseSkill

from . import GREETING


class PackageInit(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {"greeting": GREETING}
