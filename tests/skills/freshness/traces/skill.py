import builtins
import json
import os
import string
import sys
import types

from skillware.core.base_skill import BaseSkill

LEFT = []


class Traces(BaseSkill):
    manifest = {}
    left = []

    def execute(self, params):
        """Tells what it sees of earlier calls, then leaves as much behind as it can, and ends as it is told."""
        seen = self.look()
        self.leave(params["mark"])
        if seen:
            return seen
        return ENDS[params["end"]]()

    def look(self):
        found = {
            "module global": LEFT,
            "class attribute": Traces.left,
            "instance attribute": getattr(self, "mark", None),
            "sys.modules": "planted" in sys.modules,
            "file in /tmp": os.listdir("/tmp"),
            "file at home": os.listdir(os.path.expanduser("~")),
            "environment": os.environ.get("PLANTED"),
            "builtin": getattr(builtins, "planted", None),
            "patched module": json.dumps([1]) != "[1]",
            "module attribute": getattr(string, "planted", None),
            "sys.path": "/planted" in sys.path,
            "working folder": os.getcwd() != "/",
            "default argument": with_default(),
            "recursion limit": sys.getrecursionlimit() != 1000,
            "open file": [fd for fd in range(4, 16) if is_open(fd)],
        }
        return {where: what for where, what in found.items() if what}

    def leave(self, mark):
        LEFT.append(mark)
        Traces.left.append(mark)
        self.mark = mark
        sys.modules["planted"] = types.ModuleType("planted")
        for folder in ("/tmp", os.path.expanduser("~")):
            with open(f"{folder}/planted", "w") as file:
                file.write(mark)
        os.environ["PLANTED"] = mark
        builtins.planted = mark
        builtins.len = lambda value: 0
        json.dumps = lambda *args, **kwargs: "patched"
        json.JSONEncoder.encode = lambda self, value: "patched"
        string.planted = mark
        sys.path.append("/planted")
        os.chdir("/tmp")
        with_default().append(mark)
        sys.setrecursionlimit(500)
        os.open("/tmp/planted", os.O_RDONLY)


def with_default(kept=[]):
    return kept


def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def spin():
    while True:
        pass


def fill():
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def fail():
    raise ValueError("as told")


ENDS = {
    "return": lambda: None,
    "raise": fail,
    "abort": os.abort,
    "exit": lambda: os._exit(7),
    "deadline": spin,
    "memory": fill,
    "output": lambda: os.write(1, b"x" * (2 << 20)),
}
