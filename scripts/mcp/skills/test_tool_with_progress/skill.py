"""Takes long enough for three words about progress."""

import time

from skillware.core.base_skill import BaseSkill


class Fixture(BaseSkill):
    manifest = {}

    def execute(self, params):
        time.sleep(17)
        return "done"
