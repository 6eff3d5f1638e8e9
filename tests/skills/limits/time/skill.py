import hashlib
import math
import re
import select
import time

from skillware.core.base_skill import BaseSkill


def loop():
    while True:
        pass


def swallow():
    while True:
        try:
            loop()
        except BaseException:
            pass


def in_finally():
    try:
        loop()
    finally:
        loop()


def endless_hash():
    hashed, data = hashlib.sha512(), bytes(8 << 20)
    while True:
        hashed.update(data)


def many_hashes():
    for at in range(10_000):
        hashlib.sha256(b"%d" % at).hexdigest()


WAYS = {
    "hash": endless_hash,
    "many hashes": many_hashes,
    "key": lambda: hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 2**31 - 1),
    "loop": loop,
    "sleep": lambda: time.sleep(3600),
    "many sleeps": lambda: [time.sleep(0.001) for _ in range(10**6)],
    "regex": lambda: re.match(r"(a+)+$", "a" * 60 + "b"),
    "power": lambda: pow(7, 10**8),
    "factors": lambda: math.factorial(10**7),
    "sort": lambda: max(range(10**9)),
    "select": lambda: select.select([], [], [], 3600),
    "poll": lambda: select.poll().poll(3600 * 1000),
    "swallow": swallow,
    "finally": in_finally,
}


class Time(BaseSkill):
    manifest = {}

    def execute(self, params):
        WAYS[params["way"]]()
        return "done"
