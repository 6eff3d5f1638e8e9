"""Uses a key with a host, and tries to tell it: the host echoes what it was sent."""

import base64
import os
import sys

import requests
from skillware.core.base_skill import BaseSkill


class SecretSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        key = self.credential("API_KEY")
        assert key == os.environ["API_KEY"]
        answer = requests.post(params["url"], params={"key": key}, headers={"X-Key": key}, data="body " + key)
        echo = answer.text
        print(key, echo)
        print(base64.b64encode(echo.encode()).decode(), echo.encode().hex(), file=sys.stderr)
        if params.get("raise"):
            raise ValueError(echo)
        return {"key": key, "echo": echo}
