import urllib.request
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with urllib.request.urlopen(params["url"], timeout=5) as answer:
            return {"length": len(answer.read())}
