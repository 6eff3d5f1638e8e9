"""Needs a package with native code that no cell has."""

import ujson
from skillware.core.base_skill import BaseSkill


class NeedsNative(BaseSkill):
    @property
    def manifest(self):
        return {"name": "tiers/needs_native"}

    def execute(self, params):
        return {"native": ujson.__file__.endswith(".so")}
