import requests
from skillware.core.base_skill import BaseSkill

RATES = requests.get("https://rates.example.test/today").json()


class AtImport(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {"rates": RATES}
