"""Looks for what earlier calls left, in every place where something could stay."""

import builtins
import functools
import gc
import json
import logging
import os
import random
import re
import sys
import threading

from skillware.core.base_skill import BaseSkill
from window import address_of, window

try:
    import numpy
except ImportError:
    numpy = None  # the second runtime has none

KEPT = []
MARKER = re.compile(rb"canary-[0-9a-f]{24}")
DIGITS = re.compile(rb"[0-9a-f]{24}")
STEP = 1 << 22


@functools.lru_cache(maxsize=None)
def remember(key, *, value=None):
    return value


class Holder:
    held = None


class BetweenCalls(BaseSkill):
    shared = {}

    @property
    def manifest(self):
        return {}

    def execute(self, params):
        """Puts `mark` into a place if it has one, then says what is there."""
        put, look = PLACES[params["place"]]
        if "mark" in params:
            put(self, params["mark"])
        if params.get("end") == "raise":
            raise ValueError("planted")
        if params.get("end") == "loop":
            while True:
                pass
        if params.get("end") == "abort":
            os.abort()
        return look(self)


def _write(path):
    def put(skill, mark):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(mark)

    def look(skill):
        with open(path) as file:
            return file.read()

    return put, look


def _module(skill, mark):
    sys.modules["planted"] = type(sys)("planted")
    sys.modules["planted"].mark = mark


def _thread_local(skill, mark):
    threading.local().mark = mark
    threading.current_thread().mark = mark


def _fill_memory(skill, mark):
    """Many copies, in blocks of many sizes, freed again."""
    for size in (64, 500, 4000, 64_000, 1_000_000):
        held = [bytearray((mark * (size // len(mark) + 1)).encode()) for _ in range(max(1, 2_000_000 // size))]
        del held
    gc.collect()


def _search_memory(skill):
    """Memory as the allocator hands it out, never written by this call."""
    if not numpy:
        return _search_all(skill)
    found = set()
    for size in (64, 500, 4000, 64_000, 1_000_000, 16_000_000):
        for _ in range(max(1, min(1000, 8_000_000 // size))):
            found.update(match.decode() for match in MARKER.findall(numpy.empty(size, "u1").tobytes()))
    return len(found)


def _search_objects(skill):
    texts = (value for thing in gc.get_objects() if isinstance(thing, dict) for value in thing.values())
    return len({value for value in texts if isinstance(value, str) and MARKER.fullmatch(value.encode()[:31])})


def _search_all(skill):
    """Everything from the lowest address to the end of a fresh block."""
    if numpy:
        from numpy.lib.stride_tricks import as_strided

        block = numpy.empty(8_000_000, "u1")
        # Down to nearly 0, which numpy would take for no address at all.
        length = block.__array_interface__["data"][0] + len(block) - 64
        upwards = as_strided(block[-1:], (length,), (-1,))[::-1]
    else:
        block = bytearray(8_000_000)
        length = address_of(block) + len(block) - 64
        upwards = window(64, length)
    found = set()
    for start in range(0, length, STEP):
        piece = bytes(upwards[start : start + STEP + 64])
        at = piece.find(b"-yranac")
        while at >= 0:
            if DIGITS.fullmatch(piece, max(0, at - 24), at):
                found.add(piece[at - 24 : at])
            at = piece.find(b"-yranac", at + 1)
    return len(found)


def _logged(skill, mark):
    handler = logging.Handler()
    handler.mark = mark
    logging.getLogger().addHandler(handler)


def _log_of(skill):
    return [handler.mark for handler in logging.getLogger().handlers if hasattr(handler, "mark")]


def _interned(skill, mark):
    KEPT.append(sys.intern(mark + "interned"))


PLACES = {
    "global": (lambda skill, mark: KEPT.append(mark), lambda skill: list(KEPT)),
    "class": (lambda skill, mark: setattr(Holder, "held", mark), lambda skill: Holder.held),
    "instance": (lambda skill, mark: setattr(skill, "mark", mark), lambda skill: getattr(skill, "mark", None)),
    "shared": (lambda skill, mark: skill.shared.update(mark=mark), lambda skill: dict(skill.shared)),
    "builtins": (lambda skill, mark: setattr(builtins, "mark", mark), lambda skill: getattr(builtins, "mark", None)),
    "modules": (_module, lambda skill: getattr(sys.modules.get("planted"), "mark", None)),
    "cache": (lambda skill, mark: remember("key", value=mark), lambda skill: remember.cache_info().currsize),
    "path": (lambda skill, mark: sys.path.append("/" + mark), lambda skill: [p for p in sys.path if "canary" in p]),
    "thread": (_thread_local, lambda skill: getattr(threading.current_thread(), "mark", None)),
    "logging": (_logged, _log_of),
    "scratch": _write("/tmp/planted.txt"),
    "home": _write("/home/skill/deep/planted.txt"),
    "working_folder": (lambda skill, mark: os.chdir("/tmp"), lambda skill: os.getcwd()),
    "module_attribute": (lambda skill, mark: setattr(json, "mark", mark), lambda skill: getattr(json, "mark", None)),
    "expression": (lambda skill, mark: re.compile(mark), lambda skill: any(MARKER.search(str(key).encode()) for key in re._cache)),
    "interned": (_interned, _search_objects),
    "memory": (_fill_memory, _search_memory),
    "all_memory": (_fill_memory, _search_all),
    "descriptor": (
        lambda skill, mark: KEPT.append(os.open("/tmp/held", os.O_RDWR | os.O_CREAT)),
        lambda skill: [fd for fd in range(4, 50) if _is_open(fd)],
    ),
    "random": (lambda skill, mark: random.seed(1), lambda skill: random.random() == 0.13436424411240122),
    "numpy_random": (lambda skill, mark: numpy.random.seed(1), lambda skill: float(numpy.random.random()) == 0.417022004702574),
    "recursion_limit": (lambda skill, mark: sys.setrecursionlimit(77), lambda skill: sys.getrecursionlimit()),
    "trace": (lambda skill, mark: sys.setprofile(lambda *_: None), lambda skill: sys.getprofile() is not None),
    "streams": (lambda skill, mark: setattr(sys, "stdout", open("/tmp/out", "w")), lambda skill: sys.stdout.name),
    "digits": (lambda skill, mark: sys.set_int_max_str_digits(0), lambda skill: sys.get_int_max_str_digits()),
}


def _is_open(descriptor):
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
