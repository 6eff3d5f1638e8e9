"""Leaves a file in scratch space, and looks whether it is there."""

import os

from skillware.core.base_skill import BaseSkill


def _work(skill, params):
    was_there = os.path.exists("/tmp/mark")
    with open("/tmp/mark", "w", encoding="utf-8") as file:
        file.write("here")
    return {"was_there": was_there}


class WritesScratch(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
