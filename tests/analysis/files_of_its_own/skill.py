import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name):
    with open(os.path.join(HERE, "data", name), encoding="utf-8") as file:
        return json.load(file)


WORDS = _load("words.json")
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"known": params.get("word") in WORDS}
