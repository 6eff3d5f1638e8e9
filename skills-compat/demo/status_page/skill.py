"""Asks a web service how it is. It needs to be granted that one address, and can reach no other."""

import requests
from skillware.core.base_skill import BaseSkill

STATUS = "https://status.example.org/api/v2/status.json"


class StatusPage(BaseSkill):
    @property
    def manifest(self):
        return {"name": "demo/status_page", "version": "0.1.0"}

    def execute(self, params):
        try:
            answer = requests.get(STATUS, timeout=10)
        except requests.RequestException as error:
            return {"reached": False, "why": type(error).__name__}
        return {"reached": True, "status": answer.json()["status"]}
