"""Never returns."""

from skillware.core.base_skill import BaseSkill


def _work(skill, params):
    while True:
        pass


class Endless(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
