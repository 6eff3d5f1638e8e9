"""Imports late what draws random numbers when it is imported."""

from skillware.core.base_skill import BaseSkill


def _work(skill, params):
    import drawing

    return {"salt": drawing.SALT}


class LazyEntropyImport(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
