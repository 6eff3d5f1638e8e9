"""Reaches what mounts hide, and moves the mounts themselves."""

import os

from skillware.core.base_skill import BaseSkill


class Nested(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params.pop("attempt"))(**params)

    def read(self, path):
        with open(path) as file:
            return file.read()

    def rename(self, path, to):
        os.rename(path, to)
        return "done"

    def rmdir(self, path):
        os.rmdir(path)
        return "done"

    def rename_around(self, path, to, then):
        """The folder that a mount is in moves, and the mount's place with it?"""
        os.rename(path, to)
        return self.read(then)

    def held(self, path, name):
        """A descriptor of a folder, and what is below it."""
        with open(os.open(name, os.O_RDONLY, dir_fd=os.open(path, os.O_RDONLY))) as file:
            return file.read()
