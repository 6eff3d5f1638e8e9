"""Reads a file at first use that a call may be granted."""

from skillware.core.base_skill import BaseSkill

_table = None


def _work(skill, params):
    global _table
    if _table is None:
        try:
            with open("/data/table.txt", encoding="utf-8") as file:
                _table = {"rows": file.read().split()}
        except OSError:
            _table = {"rows": []}
    return _table


class LazyFile(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
