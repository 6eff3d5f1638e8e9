import requests

RATES = requests.get("https://rates.example.org/today", timeout=5).json()
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"rate": RATES[params["currency"]]}
