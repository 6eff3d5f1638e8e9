import os
import time

import _host
from skillware.core.base_skill import BaseSkill


def flood(work):
    def run():
        while True:
            try:
                work()
            except Exception:
                pass

    return run


WAYS = {
    "stat": flood(lambda: os.stat("/tmp")),
    "clock": flood(time.monotonic),
    "entropy": flood(lambda: os.urandom(1)),
    "door": flood(lambda: _host.call(b"T")),
    "no frame": flood(lambda: _host.call(b"?")),
}


class HostCalls(BaseSkill):
    manifest = {}

    def execute(self, params):
        WAYS[params["way"]]()
