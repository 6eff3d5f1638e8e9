"""Reads a table of its own, compiles a pattern and imports a module at first use: nothing of it depends on a call."""

import json
import os
import re

from skillware.core.base_skill import BaseSkill

_table = None


def _rows():
    global _table
    if _table is None:
        with open(os.path.join(os.path.dirname(__file__), "table.json"), encoding="utf-8") as file:
            _table = json.load(file)
    return _table


def _work(skill, params):
    import colorsys

    words = re.findall(r"[a-z]+(?=\b)", params["text"])
    return {"known": [_rows().get(word) for word in words], "colour": colorsys.rgb_to_hls(0.1, 0.2, 0.3)}


class LazyData(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
