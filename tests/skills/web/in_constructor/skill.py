import requests
from skillware.core.base_skill import BaseSkill


class InConstructor(BaseSkill):
    manifest = {}

    def __init__(self, config=None):
        super().__init__(config)
        self.said = requests.get("http://api.example.test/plain", timeout=5).text

    def execute(self, params):
        return {"said": self.said}
