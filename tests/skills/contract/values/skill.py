import math

from skillware.core.base_skill import BaseSkill


def deep():
    value = []
    for _ in range(500):
        value = [value]
    return value


VALUES = {
    "large integers": lambda: [2**64, -(10**40), 2**53 + 1],
    "floats": lambda: [0.1, 1e308, 5e-324, -0.0, 1.0, 123456789.125],
    "text": lambda: ["é", "日本", "🦀", "\u0000", "\u2028", 'quote " slash \\', "</script>"],
    "empty": lambda: [None, True, False, [], {}, ""],
    "keys": lambda: {"b": 1, "a": 2, "": 3, "1": 4},
    "tuple": lambda: (1, (2,)),
    "integer keys": lambda: {1: "one", None: "none", 2.5: "float"},
    "deep": deep,
    "not a number": lambda: {"rows": [{"ok": 1}, {"score": math.nan}]},
    "infinity": lambda: [math.inf],
    "bytes": lambda: {"data": b"raw"},
    "object": lambda: {"skill": [object()]},
}


class Values(BaseSkill):
    manifest = {}

    def execute(self, params):
        return VALUES[params["value"]]()
