import socket
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with socket.create_connection(("api.example.org", 80), timeout=5) as connection:
            connection.sendall(b"GET /v1/status HTTP/1.0\r\nHost: api.example.org\r\n\r\n")
            return {"answer": connection.recv(4096).decode()}
