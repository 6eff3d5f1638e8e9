"""Returns what it gets, or raises it."""

from skillware.core.base_skill import BaseSkill


class Echo(BaseSkill):
    manifest = {}

    def execute(self, params):
        if "problem" in params:
            raise ValueError(params["problem"])
        return params.get("value", params)
