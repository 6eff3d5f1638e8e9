import requests
from skillware.core.base_skill import BaseSkill

FETCH = {"page": lambda name: requests.get("https://api.example.org/pages/" + name, timeout=5).text}


class Case(BaseSkill):
    def execute(self, params):
        return {"text": FETCH["page"](params["name"])}
