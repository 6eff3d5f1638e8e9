import sys

from skillware.core.base_skill import BaseSkill


class Without(BaseSkill):
    manifest = {}

    def execute(self, params):
        return [name for name in ("PIL", "numpy", "skillcell_guest.jpeg") if name in sys.modules]
