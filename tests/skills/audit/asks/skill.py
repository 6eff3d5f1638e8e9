"""Asks for a host, a folder and a key, and uses the host."""

import requests
from skillware.core.base_skill import BaseSkill


class AsksSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return requests.get(params["url"], timeout=20).status_code
