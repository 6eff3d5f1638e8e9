import inspect
import os
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        out = {"session": os.getsid(0) if hasattr(os, "getsid") else 0}
        if hasattr(inspect, "getargspec"):
            out["names"] = inspect.getargspec(len).args
        try:
            out["spec"] = str(inspect.getargspec(len))
        except AttributeError:
            out["spec"] = ""
        return out
