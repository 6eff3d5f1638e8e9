"""Goes on in a generator."""

from skillware.core.base_skill import BaseSkill

_numbers = (number for number in range(1000))


def _work(skill, params):
    return {"number": next(_numbers)}


class Generator(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
