from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return self._twice(params.get("n", 1))

    def _twice(self, n: torch.Tensor):
        return {"n": 2 * n}
