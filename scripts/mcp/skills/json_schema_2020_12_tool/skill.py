"""Has a schema with what JSON Schema 2020-12 has."""

from skillware.core.base_skill import BaseSkill


class Fixture(BaseSkill):
    manifest = {}

    def execute(self, params):
        return params
