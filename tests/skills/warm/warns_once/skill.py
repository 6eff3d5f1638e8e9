"""Warns at the first call, as Python has it."""

import warnings

from skillware.core.base_skill import BaseSkill


def _work(skill, params):
    warnings.warn("this is old", UserWarning)
    return {}


class WarnsOnce(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
