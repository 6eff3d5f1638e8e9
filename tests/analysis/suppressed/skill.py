import contextlib

numba = None
with contextlib.suppress(ImportError):
    import numba
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"fast": numba is not None}
