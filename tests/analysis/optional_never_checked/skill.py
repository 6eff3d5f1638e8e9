try:
    import soundfile
except ImportError:
    pass
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        data, rate = soundfile.read(params["path"])
        return {"rate": rate}
