import os
import sys

from skillware.core.base_skill import BaseSkill


class Echo(BaseSkill):
    manifest = {}

    def execute(self, params):
        print("printed to stdout")
        print("printed to stderr", file=sys.stderr)
        return {"params": params, "config": self.config, "env": dict(os.environ)}
