from skillware.core.base_skill import BaseSkill


class Seldom(BaseSkill):
    manifest = {}

    def execute(self, params):
        if params.get("use"):
            from bitarray import bitarray

            return bitarray("101").count()
