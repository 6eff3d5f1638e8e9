import requests
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        headers = {"HTTP-Referer": "https://github.com/someone/project"}
        answer = requests.post("https://api.example.org/v1/ask", headers=headers, json=params, timeout=10)
        return answer.json()
