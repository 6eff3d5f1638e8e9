"""Does one thing after another and tells what came of each."""

import os
import socket
import time

import requests
from skillware.core.base_skill import BaseSkill


def _read(path):
    with open(path) as file:
        return file.read()


def _write(path):
    with open(path, "w") as file:
        file.write("new")


def _post_key(url):
    key = os.environ["API_KEY"]
    return requests.post(url, headers={"X-Key": key}, data="body " + key, timeout=20).status_code


def _spin(_):
    while True:
        pass


DOINGS = {
    "get": lambda url: requests.get(url, timeout=60).status_code,
    "post_key": _post_key,
    "look_up": lambda name: socket.gethostbyname(name),
    "look_up_many": lambda count: sum(_fails("look_up", f"n{i}.example.test") for i in range(int(count))),
    "read": _read,
    "write": _write,
    "list": lambda path: len(os.listdir(path)),
    "delete": os.unlink,
    "rename": lambda path: os.rename(path, path + ".moved"),
    "mkdir": os.mkdir,
    "spin": _spin,
    "sleep": lambda seconds: time.sleep(float(seconds)),
    "grow": lambda count: len(bytearray(int(count))),
    "raise": lambda text: {}[text],
}


def _fails(doing, what):
    try:
        DOINGS[doing](what)
        return False
    except OSError:
        return True


class DoingsSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return [self._do(doing, what) for doing, what in params["do"]]

    def _do(self, doing, what):
        try:
            return DOINGS[doing](what)
        except OSError as error:
            return type(error).__name__
