"""A function that no warming call reaches imports what draws random numbers."""

from skillware.core.base_skill import BaseSkill


class LateEntropy(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        if params["text"] == "deep in it":
            import drawing

            return {"salt": drawing.SALT}
        return {"salt": None}
