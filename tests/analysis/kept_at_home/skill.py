from pathlib import Path

from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        count = Path.home() / ".count"
        if not count.exists():
            count.write_text("0")
        return {"count": int(count.read_text())}
