"""Keeps the params of the first call."""

from skillware.core.base_skill import BaseSkill

_first = None


def _work(skill, params):
    global _first
    _first = _first or params
    return {"first": _first}


class KeepsFirst(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
