"""Gets a URL with requests, for measuring what a request costs; without a URL, does nothing."""

import requests
from skillware.core.base_skill import BaseSkill


class Fetch(BaseSkill):
    @property
    def manifest(self):
        return {"name": "demo/fetch", "version": "0.1.0"}

    def execute(self, params):
        if "url" not in params:
            return {"status": None}
        answer = requests.get(params["url"], timeout=10)
        return {"status": answer.status_code, "bytes": len(answer.content)}
