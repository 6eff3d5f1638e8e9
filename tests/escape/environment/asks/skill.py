"""Asks in its manifest for variables of the host; asking is not getting."""

import os

from skillware.core.base_skill import BaseSkill


class Asks(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return os.environ.get(params["name"], "nothing")
