"""Does as it is told: returns, raises, waits, computes, crashes, asks for what it was not granted."""

import os
import sys
import time

from skillware.core.base_skill import BaseSkill


class Worker(BaseSkill):
    @property
    def manifest(self):
        return {"name": "tests/worker", "version": "0.1.0"}

    def execute(self, params):
        return getattr(self, "do_" + params["action"])(params)

    def do_echo(self, params):
        return params.get("value")

    def do_raise(self, params):
        raise ValueError(params.get("message", "as asked"))

    def do_sleep(self, params):
        time.sleep(params["seconds"])
        return "slept"

    def do_spin(self, params):
        while True:
            pass

    def do_abort(self, params):
        os.abort()

    def do_print(self, params):
        print("out", end="")
        print("err", end="", file=sys.stderr)

    def do_env(self, params):
        return dict(os.environ)

    def do_config(self, params):
        return self.config

    def do_read(self, params):
        with open(params["path"]) as file:
            return file.read()

    def do_fetch(self, params):
        import urllib.request

        sent = {name: os.environ[name] for name in params.get("send", [])}
        with urllib.request.urlopen(urllib.request.Request(params["url"], headers=sent)) as answer:
            return [sent, answer.read().decode()]

    def do_count(self, params):
        self.count = getattr(self, "count", 0) + 1
        return self.count

    def do_big(self, params):
        return "x" * params["length"]

    def do_nest(self, params):
        nested = 1
        for _ in range(params["depth"]):
            nested = [nested]
        return nested
