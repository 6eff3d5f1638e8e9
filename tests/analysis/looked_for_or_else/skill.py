import shutil
import subprocess
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        program = shutil.which("pandoc")
        if program is None:
            return {"status": "error", "message": "pandoc is not installed"}
        return {"html": subprocess.run([program], input=params["text"], capture_output=True, text=True).stdout}
