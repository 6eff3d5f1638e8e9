import importlib

from skillware.core.base_skill import BaseSkill

WRITERS = {"json": "json", "fast": "orjson"}


class Case(BaseSkill):
    def execute(self, params):
        writer = importlib.import_module(WRITERS[params.get("format", "json")])
        return {"text": str(writer.dumps(params))}
