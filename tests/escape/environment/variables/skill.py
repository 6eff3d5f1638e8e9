"""Looks for the host's environment, and leaves its own for the next call."""

import getpass
import locale
import os
import platform
import posix
import re
import socket
import sys
import time

from skillware.core.base_skill import BaseSkill

FOUND_AT_IMPORT = sorted(os.environ)
MARKER = re.compile("canary-[0-9a-f]{24}")


class Variables(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params["attempt"])(params.get("name"))

    def get(self, name):
        return os.environ[name]

    def get_bytes(self, name):
        return os.environb[name.encode()].decode()

    def from_c(self, name):
        return posix.environ[name.encode()].decode()

    def names(self, name):
        return sorted(os.environ)

    def names_at_import(self, name):
        return FOUND_AT_IMPORT

    def home(self, name):
        return [os.path.expanduser("~"), os.environ["HOME"], getpass.getuser()]

    def zone(self, name):
        return [os.environ["TZ"], time.tzname[0], time.timezone]

    def language(self, name):
        return [os.environ.get("LANG"), os.environ.get("LC_ALL"), locale.getlocale()[0]]

    def machine(self, name):
        return [platform.node(), socket.gethostname(), os.uname().nodename, os.cpu_count()]

    def started_as(self, name):
        return [sys.argv, sys.orig_argv, sys.executable, sys.warnoptions, os.getcwd()]

    def path(self, name):
        return [place for place in sys.path if not place.startswith(("/usr/local", "/skills"))]

    def set(self, name):
        os.environ[name] = "left behind"
        os.putenv(name, "left behind")
        posix.environ[name.encode()] = b"left behind"
        return os.environ[name]

    def in_memory(self, name):
        """Whatever is in a Python string, wherever it is."""
        import gc

        found = set()
        for thing in gc.get_objects():
            for value in thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ():
                if isinstance(value, str) and MARKER.search(value):
                    found.add(MARKER.search(value)[0])
        return len(found)
