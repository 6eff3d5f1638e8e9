from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if params.get("action") == "plot":
            return self._plot(params)
        return {"sum": sum(params.get("values", []))}

    def _plot(self, params):
        import pyarrow

        return {"table": str(pyarrow.array(params["values"]))}
