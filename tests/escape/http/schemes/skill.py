"""Asks for URLs that are not HTTP, with a library that knows some of them."""

import urllib.request

from skillware.core.base_skill import BaseSkill


class Schemes(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        with urllib.request.urlopen(params["url"], timeout=10) as answer:
            return answer.read().decode()
