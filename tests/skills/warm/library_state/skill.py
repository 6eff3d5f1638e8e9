"""Changes what all modules share."""

import decimal

from skillware.core.base_skill import BaseSkill


def _work(skill, params):
    exact = str(decimal.Decimal(1) / decimal.Decimal(3))
    decimal.getcontext().prec = 3
    return {"third": exact}


class LibraryState(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
