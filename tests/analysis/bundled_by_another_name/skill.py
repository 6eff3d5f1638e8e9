import ctypes
import os

LIBRARY = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "data", "model.bin"))
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"n": LIBRARY.score(params["n"])}
