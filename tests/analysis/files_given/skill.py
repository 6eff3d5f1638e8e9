import os
from pathlib import Path
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        text = Path(params["input"]).read_text(encoding="utf-8")
        with open(os.path.join(params["folder"], "out.txt"), "w", encoding="utf-8") as out:
            out.write(text.upper())
        return {"length": len(text)}
