"""Has a granted server send it on to where it may not go."""

import urllib.request

import requests
from skillware.core.base_skill import BaseSkill


class Redirects(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        url = "http://api.example.test" + params["path"]
        if params.get("urllib"):
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.read().decode()
        return requests.get(url, timeout=10, headers=params.get("headers")).text
