"""Waits for as long as it is told, as a slow computation or a slow server would make it."""

import time

from skillware.core.base_skill import BaseSkill


class Waits(BaseSkill):
    @property
    def manifest(self):
        return {"name": "examples/waits", "version": "0.1.0"}

    def execute(self, params):
        time.sleep(params["seconds"])
        return {"waited": params["seconds"]}
