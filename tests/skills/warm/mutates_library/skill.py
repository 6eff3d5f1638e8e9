"""Puts a function of its own into a library."""

import json

from skillware.core.base_skill import BaseSkill


def _work(skill, params):
    before = json.loads("[1]")
    json.loads = lambda text: [2]
    return {"before": before}


class MutatesLibrary(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
