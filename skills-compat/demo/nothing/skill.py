"""Does nothing, for measuring what a call costs by itself."""

from skillware.core.base_skill import BaseSkill


class Nothing(BaseSkill):
    @property
    def manifest(self):
        return {"name": "demo/nothing", "version": "0.1.0"}

    def execute(self, params):
        return {"ok": True}
