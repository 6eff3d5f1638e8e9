"""Asks a granted host for what was not granted of it: another port, method or path."""

from skillcell_guest import bridge
from skillware.core.base_skill import BaseSkill


class Requests(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        port, tls = params.get("port", 80), params.get("tls", False)
        connection = bridge.open_connection("api.example.test", port, tls)
        named = "api.example.test" if port == (443 if tls else 80) else f"api.example.test:{port}"
        line = f"{params.get('method', 'GET')} {params.get('path', '/v1/x')} HTTP/1.1"
        head = [line, f"Host: {named}", "Connection: close", *params.get("headers", [])]
        bridge.write(connection, "\r\n".join([*head, "", ""]).encode())
        answer = b""
        while piece := bridge.read(connection, 65536, 10):
            answer += piece
        return answer.partition(b"\r\n\r\n")[2].decode()
