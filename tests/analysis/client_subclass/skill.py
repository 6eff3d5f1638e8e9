import requests
from skillware.core.base_skill import BaseSkill


class Api(requests.Session):
    base = "https://api.example.org"

    def pages(self):
        return self.get(self.base + "/pages").json()


class Case(BaseSkill):
    def execute(self, params):
        return {"pages": Api().pages()}
