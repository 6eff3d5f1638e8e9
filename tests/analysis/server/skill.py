from http.server import BaseHTTPRequestHandler, HTTPServer
from skillware.core.base_skill import BaseSkill


class Case(BaseSkill):
    def execute(self, params):
        HTTPServer(("127.0.0.1", 8080), BaseHTTPRequestHandler).handle_request()
        return {}
