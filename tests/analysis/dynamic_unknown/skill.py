import importlib
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        plugin = importlib.import_module("plugins." + params["plugin"])
        return plugin.run()
