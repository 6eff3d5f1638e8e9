import ctypes

from skillware.core.base_skill import BaseSkill


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int)]


class Case(BaseSkill):
    def execute(self, params):
        return {"bytes": ctypes.sizeof(Point)}
