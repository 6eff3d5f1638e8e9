"""Names an image by tag."""

from skillware.core.base_skill import BaseSkill


class Tagged(BaseSkill):
    @property
    def manifest(self):
        return {"name": "container/tagged", "version": "0.1.0"}

    def execute(self, params):
        return {"ok": True}
