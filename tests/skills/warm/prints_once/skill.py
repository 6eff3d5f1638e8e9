"""Prints at the first call."""

from skillware.core.base_skill import BaseSkill

_told = {}


def _work(skill, params):
    if not _told:
        _told["all"] = ["yes"]
        print("ready")
    return {}


class PrintsOnce(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
