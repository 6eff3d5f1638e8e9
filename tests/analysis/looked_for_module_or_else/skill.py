from importlib.util import find_spec
from skillware.core.base_skill import BaseSkill

HAS_TORCH = find_spec("torch") is not None


class Case(BaseSkill):
    def execute(self, params):
        if not HAS_TORCH:
            raise RuntimeError("torch is needed")
        import torch

        return {"sum": float(torch.tensor(params["values"]).sum())}
