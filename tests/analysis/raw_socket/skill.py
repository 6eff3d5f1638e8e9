import socket
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        with socket.create_connection(("time.example.org", 37), timeout=5) as connection:
            return {"time": connection.recv(4).hex()}
