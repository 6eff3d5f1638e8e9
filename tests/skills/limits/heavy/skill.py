"""Importing it takes 96 MB that nothing can be saved on."""

import random

from skillware.core.base_skill import BaseSkill

RANDOM = random.Random(1)
DATA = [RANDOM.randbytes(1 << 20) for _ in range(96)]


class Heavy(BaseSkill):
    manifest = {}

    def execute(self, params):
        return len(DATA)
