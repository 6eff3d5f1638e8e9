"""Counts its calls in a global."""

from skillware.core.base_skill import BaseSkill

_calls = 0


def _work(skill, params):
    global _calls
    _calls += 1
    return {"calls": _calls}


class Counts(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
