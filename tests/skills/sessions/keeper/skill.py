"""Keeps something everywhere a session could keep it, and ends in every way."""

import http.client
import os
import random
import sys
import time

from skillware.core.base_skill import BaseSkill

MARKS = []


class Keeper(BaseSkill):
    manifest = {}

    def __init__(self, config=None):
        super().__init__(config)
        self.made_with = config
        self.count = 0
        self.held = []
        self.key = os.environ.get("API_KEY")
        if os.environ.get("REFUSE"):
            raise RuntimeError("not today")

    def execute(self, params):
        return getattr(self, params.get("way", "tell"))(params)

    def tell(self, params):
        self.count += 1
        MARKS.append(self.count)
        with open("/tmp/marks", "a+") as file:
            file.write("x")
            file.seek(0)
            marks = len(file.read())
        return {"count": self.count, "module": len(MARKS), "file": marks, "config": self.made_with}

    def fail(self, params):
        self.count += 1
        raise ValueError("on purpose")

    def talk(self, params):
        print(params["text"])
        print(params["text"], file=sys.stderr)

    def loop(self, params):
        while True:
            pass

    def sleep(self, params):
        time.sleep(params["seconds"])

    def leave(self, params):
        os._exit(3)

    def abort(self, params):
        os.abort()

    def grow(self, params):
        self.held.append(bytearray(params["bytes"]))
        return len(self.held)

    def stats(self, params):
        for _ in range(params["times"]):
            os.stat("/tmp")

    def draw(self, params):
        return random.random()

    def seed(self, params):
        random.seed(7)

    def clock(self, params):
        return time.monotonic_ns()

    def hold_file(self, params):
        self.file = open("/data/a.txt", "rb", buffering=0)
        return self.file.read(1).decode()

    def use_file(self, params):
        try:
            held = self.file.read(1).decode()
        except OSError as error:
            held = error.errno
        with open("/data/a.txt") as file:
            return [held, file.read()]

    def ask(self, params):
        """Sends the key as it was when the instance was made."""
        connection = http.client.HTTPConnection("api.example.test", timeout=20)
        connection.request("GET", "/", headers={"X-Key": self.key})
        return {"key": self.key, "body": connection.getresponse().read().decode()}
