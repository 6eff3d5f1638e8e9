"""Sleeps."""

import time

from skillware.core.base_skill import BaseSkill


class Sleeper(BaseSkill):
    manifest = {}

    def execute(self, params):
        time.sleep(params["seconds"])
        return {"slept": params["seconds"]}
