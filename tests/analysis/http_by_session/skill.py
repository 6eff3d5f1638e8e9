import requests

BASE = "https://api.example.org"
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def __init__(self, config=None):
        super().__init__(config)
        self._session = requests.Session()

    def execute(self, params):
        answer = self._session.post(f"{BASE}/v1/items/{params['id']}", json=params, auth=self.credential("EXAMPLE_KEY"))
        return {"status": answer.status_code}
