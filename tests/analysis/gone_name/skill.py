from collections import Mapping, OrderedDict
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"is_mapping": isinstance(params, Mapping), "keys": list(OrderedDict(params))}
