"""Asks for a tier in its manifest, and tells where it runs."""

import sys

from skillware.core.base_skill import BaseSkill


class Asks(BaseSkill):
    @property
    def manifest(self):
        return {"name": "tiers/asks"}

    def execute(self, params):
        return {"platform": sys.platform}
