"""Keeps a set of what it was asked."""

from skillware.core.base_skill import BaseSkill

_seen = set()


def _work(skill, params):
    again = params["text"] in _seen
    _seen.add(params["text"])
    return {"again": again}


class KeepsSeen(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
