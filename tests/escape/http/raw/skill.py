"""Writes bytes of its own making to the host's HTTP client, past every library."""

import re

from skillcell_guest import bridge
from skillware.core.base_skill import BaseSkill


def _filled(line):
    """`{letters:9}` and `{lines:9}` are so many of them: long texts don't belong into case files."""
    line = re.sub(r"{letters:(\d+)}", lambda found: "a" * int(found[1]), line)
    return re.sub(r"{lines:(\d+)}", lambda found: "\r\n".join(f"X-{n}: a" for n in range(int(found[1]))), line)


class Raw(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        head = "\r\n".join(map(_filled, params["head"])) + "\r\n\r\n"
        connection = bridge.open_connection("api.example.test", 80, False)
        for piece in (head, *params.get("then", [])):
            bridge.write(connection, piece.encode("latin-1"))
        answers = b""
        try:
            while piece := bridge.read(connection, 65536, 10):
                answers += piece
        except bridge.NothingUnderWay:
            pass
        return [answer.partition(b"\r\n\r\n")[2].decode("latin-1") for answer in answers.split(b"HTTP/1.1 ")[1:]]
