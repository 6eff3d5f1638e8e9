try:
    import broken
except Exception:
    broken = None
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"broken": broken is None}
