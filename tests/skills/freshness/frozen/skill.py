import random

from skillware.core.base_skill import BaseSkill

#: Drawn while the image is baked: every call that starts from the image has this one.
GENERATOR = random.Random()


class Frozen(BaseSkill):
    manifest = {}

    def execute(self, params):
        return GENERATOR.random()
