from pathlib import Path

from skillware.core.base_skill import BaseSkill


class Cache:
    def __init__(self, folder="cache", seconds=60):
        self.folder, self.seconds = Path(folder), seconds
        self.folder.mkdir(exist_ok=True)


class Case(BaseSkill):
    def execute(self, params):
        return {"kept": Cache(seconds=5).seconds}
