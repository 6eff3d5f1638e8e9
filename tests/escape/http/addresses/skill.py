"""Asks for addresses of the host's own networks, in every spelling, and by names that lead there."""

import time

import requests
from skillcell_guest import bridge
from skillware.core.base_skill import BaseSkill


def _past_the_libraries(host, port):
    connection = bridge.open_connection(host, port, False)
    named = host if port == 80 else f"{host}:{port}"
    bridge.write(connection, f"GET /x HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n\r\n".encode())
    answer = b""
    while piece := bridge.read(connection, 65536, 10):
        answer += piece
    return answer.partition(b"\r\n\r\n")[2].decode()


class Addresses(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        if "url" in params:
            return requests.get(params["url"], timeout=10).text
        if "wait" in params:
            # The name's owner gives it another address once the first was looked at.
            bridge.addresses(params["host"], 80)
            time.sleep(params["wait"])
        return _past_the_libraries(params["host"], int(params.get("port", 80)))
