"""Raises, as the conformance suite expects it."""

from skillware.core.base_skill import BaseSkill


class Fixture(BaseSkill):
    manifest = {}

    def execute(self, params):
        raise RuntimeError("This tool intentionally returns an error for testing")
