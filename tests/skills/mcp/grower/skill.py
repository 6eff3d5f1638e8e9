"""Returns a long text."""

from skillware.core.base_skill import BaseSkill


class Grower(BaseSkill):
    manifest = {}

    def execute(self, params):
        return "".join(f"{line:09}\n" for line in range(params["lines"]))
