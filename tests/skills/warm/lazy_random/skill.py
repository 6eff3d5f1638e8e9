"""Draws a salt at first use."""

import os

from skillware.core.base_skill import BaseSkill

_salt = {}


def _work(skill, params):
    _salt.setdefault("salt", [os.urandom(8).hex()])
    return {"salt": _salt["salt"]}


class LazyRandom(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
