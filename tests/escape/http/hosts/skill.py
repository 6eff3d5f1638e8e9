"""Asks hosts that look like one that was granted, or lead elsewhere than they seem to."""

import requests
from skillcell_guest import bridge
from skillware.core.base_skill import BaseSkill


def _past_the_libraries(host):
    connection = bridge.open_connection(host, 80, False)
    bridge.write(connection, f"GET /v1/x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    answer = b""
    while piece := bridge.read(connection, 65536, 10):
        answer += piece
    return answer.partition(b"\r\n\r\n")[2].decode()


class Hosts(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        if "url" in params:
            return requests.get(params["url"], timeout=10).text
        return _past_the_libraries(params["host"])
