"""Reads files of the host, whatever way a path can be written."""

import os
import re

from skillware.core.base_skill import BaseSkill

MARKER = re.compile(rb"canary-[0-9a-f]{24}-")


class Reads(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params.pop("attempt", "read"))(**params)

    def read(self, path):
        with open(path) as file:
            return file.read()

    def read_bytes(self, path_hex):
        with open(bytes.fromhex(path_hex)) as file:
            return file.read()

    def after_chdir(self, folder, path):
        os.chdir(folder)
        return self.read(path)

    def from_descriptor(self, folder, path):
        descriptor = os.open(folder, os.O_RDONLY)
        with open(os.open(path, os.O_RDONLY, dir_fd=descriptor)) as file:
            return file.read()

    def list(self, path):
        return sorted(os.listdir(path))

    def write(self, path):
        with open(path, "w") as file:
            return file.write("x")

    def walk(self):
        """Everything that there is, but for the standard library's archive, which no call could change."""
        found = []
        for folder, _, names in os.walk("/"):
            for name in names:
                path = os.path.join(folder, name)
                if folder == "/dev" or name.endswith(".zip"):
                    continue
                with open(path, "rb") as file:
                    if MARKER.search(file.read()):
                        found.append(path)
        return {"roots": sorted(os.listdir("/")), "found": found}
