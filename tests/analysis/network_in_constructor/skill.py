import requests
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def __init__(self, config=None):
        super().__init__(config)
        self.rates = requests.get("https://rates.example.org/today", timeout=5).json()

    def execute(self, params):
        return {"rate": self.rates[params["currency"]]}
