try:
    import pyarrow
except ImportError:
    pyarrow = None
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if params.get("action") == "table":
            if pyarrow is None:
                raise RuntimeError("pyarrow is needed for tables")
            return {"table": str(pyarrow.array(params["values"]))}
        return {"sum": sum(params.get("values", []))}
