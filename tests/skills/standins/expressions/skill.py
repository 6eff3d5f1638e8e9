import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

from skillware.core.base_skill import BaseSkill
from work import work


class Expressions(BaseSkill):
    manifest = {}

    def execute(self, params):
        return work()
