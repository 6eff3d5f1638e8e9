import requests
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        verb = getattr(requests, "put")
        verb("https://store.example.org/items/1", data="x")
        shell = __import__("subprocess")
        if params.get("really"):
            shell.run(["true"])
        return {}
