"""Caches a variable of the environment."""

import functools
import os

from skillware.core.base_skill import BaseSkill


@functools.lru_cache
def _region():
    return os.environ.get("REGION", "none")


def _work(skill, params):
    return {"region": _region()}


class CachedVariable(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
