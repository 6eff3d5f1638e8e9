import decimal

from skillware.core.base_skill import BaseSkill


class Plain(BaseSkill):
    manifest = {}

    def execute(self, params):
        return str(decimal.Decimal("0.1") + decimal.Decimal("0.2"))
