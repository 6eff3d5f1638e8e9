"""Takes its key from config when it is made, as Skillware's `SecretProvider` hands it over."""

import os
import urllib.request

from skillware.core.base_skill import BaseSkill


class ConfiguredSkill(BaseSkill):
    def __init__(self, config=None):
        super().__init__(config=config)
        self.key = self.config.get("API_KEY")

    @property
    def manifest(self):
        return {}

    def execute(self, params):
        if params.get("url"):
            urllib.request.urlopen(urllib.request.Request(params["url"], b"x", {"X-Key": self.key})).read()
        same = self.key == self.credential("API_KEY") == os.environ.get("API_KEY")
        return {"key": self.key, "same": same, "mode": self.config.get("mode")}
