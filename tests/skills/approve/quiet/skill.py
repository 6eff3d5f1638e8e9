"""Asks for nothing, and tells what its environment is."""

import os
import time

from skillware.core.base_skill import BaseSkill


class QuietSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return {"env": dict(os.environ), "zone": time.tzname[0], "home": os.path.expanduser("~")}
