import importlib
from skillware.core.base_skill import BaseSkill


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


polars = optional("polars")
orjson = optional("orjson")


class Case(BaseSkill):
    def execute(self, params):
        rows = polars.DataFrame(params["rows"]).height
        return {"rows": rows, "size": len(orjson.dumps(params)) if orjson else 0}
