import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "vendor", "quick-1.0-cp311-cp311-linux_x86_64.whl"))
import quick
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"f": quick.f(params["n"])}
