import datetime
import math

from skillware.core.base_skill import BaseSkill

RESULTS = {
    "set": lambda: {"rows": [{"tags": {1, 2}}]},
    "date": lambda: [datetime.date(2026, 1, 2)],
    "nan": lambda: {"score": math.nan},
    "key": lambda: {"a": {(1, 2): "pair"}},
    "surrogate": lambda: {"text": "\ud800"},
    "loop": lambda: loop(),
}


def loop():
    items = []
    items.append(items)
    return {"items": items}


class NotJson(BaseSkill):
    manifest = {}

    def execute(self, params):
        return RESULTS[params["result"]]()
