"""Reads what no honest server answers, and counts what it gets."""

import contextlib
import re

from skillcell_guest import bridge
from skillware.core.base_skill import BaseSkill


class Answers(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        texts = []
        for path in params["paths"]:
            connection = bridge.open_connection("api.example.test", 80, False)
            bridge.write(connection, f"GET {path} HTTP/1.1\r\nHost: api.example.test\r\n\r\n".encode())
            answer = b""
            with contextlib.suppress(bridge.NothingUnderWay):
                while piece := bridge.read(connection, 65536, params.get("timeout")):
                    answer += piece
            bridge.close(connection)
            if answer and not re.match(rb"HTTP/1\.[01] \d{3} ", answer):
                raise ValueError(f"no HTTP: {answer!r}")
            texts.append(answer.partition(b"\r\n\r\n")[2].decode("latin-1"))
        return texts
