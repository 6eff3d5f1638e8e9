"""Looks a country's dialling code up in a file of its own."""

import json
from pathlib import Path

from skillware.core.base_skill import BaseSkill

CODES = Path(__file__).parent / "data" / "codes.json"


class DiallingCodes(BaseSkill):
    def __init__(self, config=None):
        super().__init__(config)
        # Read once, while the skill's image is made: no call pays for it.
        self.codes = json.loads(CODES.read_text(encoding="utf-8"))

    @property
    def manifest(self):
        return {"name": "demo/dialling_codes", "version": "0.1.0"}

    def execute(self, params):
        return {"code": self.codes.get(params["country"].strip().title())}
