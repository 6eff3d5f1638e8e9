import os
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        actions = {"sum": self._sum, "list": self._list}
        return actions[params.get("action", "sum")](params)

    def _sum(self, params):
        return {"sum": sum(params.get("values", []))}

    def _list(self, params):
        return {"text": os.popen("ls").read()}
