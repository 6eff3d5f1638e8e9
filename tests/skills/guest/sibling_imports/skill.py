import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

import helper  # noqa: E402
from skillware.core.base_skill import BaseSkill


class SiblingImports(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {"answer": helper.answer(), "data": helper.data()}
