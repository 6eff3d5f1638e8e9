import time

from skillware.core.base_skill import BaseSkill

AT_IMPORT = {"time": time.time(), "monotonic": time.monotonic(), "perf_counter": time.perf_counter()}


class Clocks(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {
            "since_import": {name: getattr(time, name)() - then for name, then in AT_IMPORT.items()},
            "now": time.time(),
        }
