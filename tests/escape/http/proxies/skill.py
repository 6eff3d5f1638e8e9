"""Has its requests made by somebody else."""

import requests
from skillware.core.base_skill import BaseSkill


class Proxies(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        proxies = {"http": params["proxy"], "https": params["proxy"]} if "proxy" in params else None
        return requests.get(params.get("url", "http://api.example.test/v1/x"), proxies=proxies, timeout=10).text
