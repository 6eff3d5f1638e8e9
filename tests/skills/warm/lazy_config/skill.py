"""Takes its config from the first call."""

from skillware.core.base_skill import BaseSkill

_client = None


def _work(skill, params):
    global _client
    if _client is None:
        _client = {"mode": skill.config.get("mode", "plain"), "names": ["a"]}
    return {"client": _client}


class LazyConfig(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return _work(self, params)
