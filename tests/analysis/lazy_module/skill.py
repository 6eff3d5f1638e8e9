import importlib

from skillware.core.base_skill import BaseSkill


class Lazy:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        return getattr(importlib.import_module(self._name), attribute)


orjson = Lazy("orjson")


class Case(BaseSkill):
    def execute(self, params):
        return {"text": orjson.dumps(params).decode()}
