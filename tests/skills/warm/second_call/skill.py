"""The second call is another one, for some params."""

from skillware.core.base_skill import BaseSkill

_first = True


def _work(skill, params):
    global _first
    was_first, _first = _first, False
    return {"first": was_first if params["text"] == "tell" else None}


class SecondCall(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
