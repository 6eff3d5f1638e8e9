import sys

from skillware.core.base_skill import BaseSkill


class Prints(BaseSkill):
    manifest = {}

    def execute(self, params):
        print("a line")
        print("and no end of line", end="")
        print("to stderr", file=sys.stderr)
        if params.get("fail"):
            raise ValueError("after printing")
        return {}
