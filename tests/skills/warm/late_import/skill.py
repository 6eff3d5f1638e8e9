"""A function that no warming call reaches imports a module, and tells whether it was there."""

import sys

from skillware.core.base_skill import BaseSkill


def _titles():
    was_there = "wsgiref.handlers" in sys.modules
    from wsgiref import handlers

    return {"was_there": was_there, "name": handlers.__name__}


class LateImport(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _titles() if params["text"] == "deep in it" else {}
