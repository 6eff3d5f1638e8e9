import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "vendor"))
import tinyfmt
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"text": tinyfmt.upper(params.get("text", ""))}
