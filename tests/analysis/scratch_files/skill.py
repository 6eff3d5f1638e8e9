import tempfile
from pathlib import Path
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "a.txt"
            place.write_text(params.get("text", ""))
            return {"size": place.stat().st_size}
