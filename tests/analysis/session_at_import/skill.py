import requests

SESSION = requests.Session()
SESSION.headers.update({"User-Agent": "case"})
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return SESSION.get("https://api.example.org/v1/now", timeout=5).json()
