"""Counts in a closure."""

from skillware.core.base_skill import BaseSkill


def _counter():
    number = 0

    def count():
        nonlocal number
        number += 1
        return number

    return count


_count = _counter()


def _work(skill, params):
    return {"number": _count()}


class Closure(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
