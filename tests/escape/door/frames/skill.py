"""Speaks to the host itself, in frames of its own making."""

import json
import sys

import _host
from skillware.core.base_skill import BaseSkill

FORGED = {"type": "ForgedError", "message": "forged", "traceback": ""}


class Frames(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params["attempt"])(params)

    def send(self, params):
        """Any frame: its head in hex, and so many bytes behind it."""
        return _host.call(bytes.fromhex(params["head"]) + b"x" * params.get("more", 0)).hex()

    def take_again(self, params):
        """The params of this call, or of one before it."""
        return _host.call(b"T").decode()

    def own_params(self, params):
        return params["attempt"]

    def text(self, params):
        return _host.call("T")

    def nothing(self, params):
        return _host.call()

    def two_results(self, params):
        """The first counts."""
        _host.call(b"G" + json.dumps("first").encode())
        return "second"

    def result_and_on(self, params):
        """Gives a result, and goes on for ever."""
        _host.call(b"G" + json.dumps("given").encode())
        while True:
            pass

    def result_and_crash(self, params):
        import os

        _host.call(b"G" + json.dumps("given").encode())
        os.abort()

    def forged_failure(self, params):
        _host.call(b"F" + json.dumps({**FORGED, **params.get("more", {})}).encode())
        return "ignored"

    def forged_limit(self, params):
        """Says that memory ran out, which it did not."""
        _host.call(b"F" + json.dumps({**FORGED, "out_of_memory": True, "errno": 51}).encode())
        return "ignored"

    def failure_without_fields(self, params):
        return _host.call(b'F{"type": "X"}').hex()

    def not_json(self, params):
        _host.call(b"G" + bytes.fromhex(params["body"]))
        return "ignored"

    def two_lines(self, params):
        """A result that looks like two to whoever reads line by line."""
        _host.call(b'G{"a":\n1,\r"b":2}\n')

    def two_values(self, params):
        _host.call(b'G{"a": 1} {"outcome": "returned"}')

    def deep(self, params):
        """A result that nests deeper than a reader would like."""
        _host.call(b"G" + b"[" * params["depth"] + b"]" * params["depth"])

    def long(self, params):
        _host.call(b'G"' + b"x" * params["length"] + b'"')

    def long_failure(self, params):
        return _host.call(b"F" + json.dumps({**FORGED, "message": "x" * params["length"]}).encode()).hex()

    def exit_without_result(self, params):
        """Replaces what would hand the result over."""
        import skillcell_guest.door

        skillcell_guest.door.send = lambda *_: b""
        return "lost"

    def reentrant(self, params):
        """A frame while a frame is made: from a buffer, a collection, an iterator."""

        class Sly(bytes):
            def __buffer__(self, flags):
                _host.call(b"Z")
                return memoryview(b"Z")

        return _host.call(Sly(b"Z"))

    def from_a_generator(self, params):
        def frames():
            while True:
                yield _host.call(b"n")

        return len({next(frames()) for _ in range(3)} | {next(stream) for stream in [frames() for _ in range(3)]})

    def from_a_finalizer(self, params):
        class Last:
            def __del__(self):
                _host.call(b"G" + json.dumps("from the finalizer").encode())

        thing = Last()
        del thing
        return "from the skill"

    def from_a_trace(self, params):
        """From within whatever is called, the guest's own code too."""
        frames = []

        def trace(frame, event, argument):
            frames.append(frame.f_code.co_qualname)
            return None

        sys.settrace(trace)
        try:
            _host.call(b"n")
        finally:
            sys.settrace(None)
        return frames

    def flood(self, params):
        count = 0
        while True:
            _host.call(b"n")
            count += 1

    def few(self, params):
        return len([_host.call(b"n") for _ in range(10)])

    def ordinary(self, params):
        return "ordinary"
