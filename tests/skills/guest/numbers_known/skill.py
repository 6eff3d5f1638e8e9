import numpy as np
from skillware.core.base_skill import BaseSkill


class NumbersKnown(BaseSkill):
    manifest = {}

    def execute(self, params):
        return int(np.array([1_500_000_000, 900_000_000], dtype=np.int64).sum())
