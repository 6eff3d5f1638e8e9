import importlib.util
import os

PLACE = os.path.join(os.path.dirname(__file__), "native", "core.so")
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        spec = importlib.util.spec_from_file_location("core", PLACE)
        core = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(core)
        return {"n": core.count(params["text"])}
