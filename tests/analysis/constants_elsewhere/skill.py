import requests
from config import API_ROOT
from settings import Settings
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def __init__(self, config=None):
        super().__init__(config)
        self.settings = Settings()

    def execute(self, params):
        price = requests.get(f"{API_ROOT}/prices/{params['id']}", timeout=9).json()
        requests.post(self.settings.hook, json=price, timeout=9)
        return price
