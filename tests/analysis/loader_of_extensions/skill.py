import importlib.machinery
import importlib.util
import pathlib
from skillware.core.base_skill import BaseSkill


def load():
    path = str(next(pathlib.Path(__file__).parent.glob("lib/*.so")))
    loader = importlib.machinery.ExtensionFileLoader("fast", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fast", loader))
    loader.exec_module(module)
    return module


class Case(BaseSkill):
    def execute(self, params):
        return {"out": load().run(params["text"])}
