"""Remembers when it was called first."""

import time

from skillware.core.base_skill import BaseSkill

_began = {}


def _work(skill, params):
    _began.setdefault("at", [time.time()])
    return {"is_now": abs(_began["at"][0] - time.time()) < 60}


class LazyTime(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
