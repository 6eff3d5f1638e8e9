from kernels.fastmath import dot
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"dot": dot(params["a"], params["b"])}
