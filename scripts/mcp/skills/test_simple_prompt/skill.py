"""Has instructions, which are a prompt."""

from skillware.core.base_skill import BaseSkill


class Fixture(BaseSkill):
    manifest = {}

    def execute(self, params):
        return params
