"""Follows links out of a mount, makes its own, and races the host."""

import collections
import os
import shutil

from skillware.core.base_skill import BaseSkill


class Links(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params.pop("attempt"))(**params)

    def read(self, path):
        with open(path) as file:
            return file.read()

    def stat(self, path):
        return os.stat(path).st_size

    def readlink(self, path):
        return os.readlink(path)

    def list(self, path):
        return sorted(os.listdir(path))

    def write(self, path):
        with open(path, "w") as file:
            return file.write("changed")

    def truncate(self, path):
        os.truncate(path, 0)

    def mkdir(self, path):
        os.mkdir(path)

    def unlink(self, path):
        os.unlink(path)

    def rename(self, path, to):
        os.rename(path, to)

    def utime(self, path):
        os.utime(path, (1, 1))

    def symlink(self, target, path):
        os.symlink(target, path)
        return self.read(path)

    def link(self, target, path):
        os.link(target, path)
        return self.read(path)

    def copy(self, target, path):
        shutil.copyfile(target, path)
        return self.read(path)

    def replace_and_read(self, path, to):
        """A link keeps its text when it is moved, and leads elsewhere from there."""
        os.replace(path, to)
        return self.read(to)

    def race(self, path, times):
        """What comes of reading a name many times, each once."""
        seen = collections.Counter()
        for _ in range(times):
            try:
                seen[self.read(path)] += 1
            except OSError as error:
                seen[type(error).__name__] += 1
        return sorted(seen)

    def race_to_write(self, path, times):
        seen = set()
        for _ in range(times):
            try:
                self.write(path)
                seen.add("written")
            except OSError as error:
                seen.add(type(error).__name__)
        return sorted(seen)
