"""Removes what it lists, while it lists it and afterwards."""

import os
import shutil

from skillware.core.base_skill import BaseSkill


class Removes(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {place: [self.while_listing(place + "/a"), self.nested(place + "/b")] for place in params["places"]}

    def fill(self, folder):
        os.makedirs(folder)
        for number in range(1000):
            open(f"{folder}/file-{number:04}", "w").close()

    def while_listing(self, folder):
        self.fill(folder)
        removed = 0
        with os.scandir(folder) as entries:
            for entry in entries:
                os.unlink(entry.path)
                removed += 1
        os.rmdir(folder)
        return removed

    def nested(self, folder):
        """A listing within a listing."""
        self.fill(folder)
        os.mkdir(folder + "/inner")
        seen = 0
        with os.scandir(folder) as entries:
            for _ in entries:
                os.listdir(folder + "/inner")
                seen += 1
        shutil.rmtree(folder)
        return [seen, os.path.exists(folder)]
