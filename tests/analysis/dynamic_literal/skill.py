from importlib import import_module as load
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        engine = load("onnxruntime")
        return {"version": engine.__version__}
