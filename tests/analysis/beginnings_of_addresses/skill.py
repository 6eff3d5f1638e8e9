import requests
from requests.adapters import HTTPAdapter

from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        session = requests.Session()
        session.mount("http://", HTTPAdapter())
        session.mount("https://", HTTPAdapter(max_retries=3))
        text = session.get("https://api.example.org/v1/pages").text.replace("http://", "https://")
        return {"links": text.split("https://")}
