import os
import sys

from skillware.core.base_skill import BaseSkill

WAYS = {
    "print": lambda stream, text: print(text, end="", file=stream),
    "write": lambda stream, text: stream.write(text),
    "buffer": lambda stream, text: (stream.buffer.write(text.encode()), stream.buffer.flush()),
    "descriptor": lambda stream, text: os.write(stream.fileno(), text.encode()),
    "duplicate": lambda stream, text: open(stream.fileno(), "wb", buffering=0, closefd=False).write(text.encode()),
}


class Output(BaseSkill):
    manifest = {}

    def execute(self, params):
        """Writes one `x` after the other, and would go on after whatever exception it got."""
        for _ in range(params["count"]):
            try:
                WAYS[params["way"]](getattr(sys, params["stream"]), "x")
            except Exception:
                pass
        return "done"
