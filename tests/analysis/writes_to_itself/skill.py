import json
from pathlib import Path

STATE = Path(__file__).parent / "state.json"
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if params.get("action") == "remember":
            STATE.write_text(json.dumps(params.get("value")))
            return {"ok": True}
        return {"value": json.loads(STATE.read_text()) if STATE.exists() else None}
