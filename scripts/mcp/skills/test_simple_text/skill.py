"""Returns a text, as the conformance suite expects it."""

from skillware.core.base_skill import BaseSkill


class Fixture(BaseSkill):
    manifest = {}

    def execute(self, params):
        return "This is a simple text response for testing."
