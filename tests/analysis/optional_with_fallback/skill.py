try:
    import orjson as json
except ImportError:
    import json

try:
    import rapidfuzz

    HAS_FUZZ = True
except ImportError:
    HAS_FUZZ = False
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        near = rapidfuzz.fuzz.ratio(params["a"], params["b"]) if HAS_FUZZ else 100.0 * (params["a"] == params["b"])
        return json.loads(json.dumps({"near": near}))
