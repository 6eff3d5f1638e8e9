import os
from skillware.core.base_skill import BaseSkill

NESTED = False


def folder():
    return outer() or os.path.dirname(__file__)


def outer():
    return folder() if NESTED else None


class Case(BaseSkill):
    def execute(self, params):
        with open(os.path.join(folder(), "words.txt"), encoding="utf-8") as words:
            return {"known": params["text"] in words.read().split()}
