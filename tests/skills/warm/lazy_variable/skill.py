"""Reads a variable at first use, into a global."""

import os

from skillware.core.base_skill import BaseSkill

_settings = {}


def _work(skill, params):
    if not _settings:
        _settings["region"] = [os.environ.get("REGION", "none")]
    return {"region": _settings["region"]}


class LazyVariable(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
