import os
import time

from skillware.core.base_skill import BaseSkill


def work():
    """A little of everything that an ordinary call does."""
    with open("/tmp/notes", "w") as file:
        file.write("x" * 10_000)
    print("working")
    return sum(len(str(number)) for number in range(200))


def spin():
    while True:
        pass


def grow():
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def recurse():
    """Frees what nests: Python's own guard does not count that."""
    value = []
    for _ in range(250_000):
        value = [value]
    del value


def hoard():
    kept = []
    while True:
        kept.append(open("/tmp/notes", "w"))


def fill():
    with open("/tmp/large", "wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))


WAYS = {
    "work": work,
    "deadline": spin,
    "sleep": lambda: time.sleep(60),
    "memory": grow,
    "stdout_bytes": lambda: os.write(1, bytes(2 << 20)),
    "result_bytes": lambda: "x" * 100_000,
    "recursion": recurse,
    "open_files": hoard,
    "scratch_bytes": fill,
    "host_calls": lambda: [os.stat("/tmp") for _ in range(10_000)] and None,
    "abort": os.abort,
}


class Worker(BaseSkill):
    manifest = {}

    def execute(self, params):
        return WAYS[params["way"]]()
