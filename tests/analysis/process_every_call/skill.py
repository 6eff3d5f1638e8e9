import subprocess
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        done = subprocess.run(["ffmpeg", "-i", params["path"]], capture_output=True)
        return {"code": done.returncode}
