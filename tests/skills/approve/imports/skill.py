"""Imports things, at every time at which a skill can, and tells what came of it."""

import importlib
import subprocess

from skillware.core.base_skill import BaseSkill

try:
    import colorsys
except ImportError as error:
    colorsys = str(error)

_kept = None


def _used_once():
    """As libraries do that import something when they first need it."""
    global _kept
    if _kept is None:
        import wave

        _kept = wave
    return _kept.__name__


def _use_subprocess():
    subprocess.run(["ls"])


def _use_ctypes():
    import ctypes

    ctypes.CDLL("libc.so.6")


def _use_multiprocessing():
    import multiprocessing

    multiprocessing.Process(target=print).start()


def _use_socket():
    import socket

    socket.socket(socket.AF_INET, socket.SOCK_RAW)


def _statement(name):
    exec(f"import {name}")


def _from(name):
    package, _, module = name.rpartition(".")
    exec(f"from {package} import {module}")


class ImportsSkill(BaseSkill):
    def __init__(self, config=None):
        super().__init__(config)
        import mimetypes

        self.made_with = mimetypes.__name__

    @property
    def manifest(self):
        return {}

    def execute(self, params):
        doings = {
            "nothing": lambda: None,
            "used_once": _used_once,
            "fallback": lambda: colorsys if isinstance(colorsys, str) else "imported",
            "statement": lambda: _statement(params["name"]),
            "from": lambda: _from(params["name"]),
            "import_module": lambda: importlib.import_module(params["name"]) and None,
            "subprocess": _use_subprocess,
            "ctypes": _use_ctypes,
            "multiprocessing": _use_multiprocessing,
            "socket": _use_socket,
        }
        try:
            return {"came": doings[params["do"]]()}
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error)}
