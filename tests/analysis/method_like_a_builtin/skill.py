import subprocess

from skillware.core.base_skill import BaseSkill


class Board:
    def clear(self):
        subprocess.run(["xcrun", "simctl", "status_bar", "booted", "clear"], check=True)


class Case(BaseSkill):
    def execute(self, params):
        board = Board()
        board.clear()
        return {"ok": True}
