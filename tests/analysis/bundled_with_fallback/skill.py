try:
    from _speed import count
except ImportError:
    from plain import count
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"n": count(params["text"])}
