try:
    import numpy as np
except ImportError:
    np = None
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if np is None:
            raise RuntimeError("numpy is needed")
        return {"mean": float(np.mean(params.get("values", [0])))}
