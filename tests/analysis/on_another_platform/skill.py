import platform
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        if platform.system() == "Darwin":
            return {"voice": "Alex"}
        elif platform.system() == "Windows":
            return {"voice": "David"}
        raise RuntimeError("there is no voice for this platform")
