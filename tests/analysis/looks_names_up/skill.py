import socket

from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        return {"address": socket.gethostbyname("mail.example.org")}
