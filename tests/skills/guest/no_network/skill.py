import asyncio
import http.client
import smtplib
import socket
import urllib.request

import requests
from skillware.core.base_skill import BaseSkill

WAYS = {
    "requests": lambda: requests.get("https://example.com"),
    "requests to an address": lambda: requests.get("http://127.0.0.1:11434"),
    "urllib": lambda: urllib.request.urlopen("http://[::1]/"),
    "http.client": lambda: http.client.HTTPSConnection("127.0.0.1").request("GET", "/"),
    "smtplib": lambda: smtplib.SMTP("localhost"),
    "getaddrinfo": lambda: socket.getaddrinfo("example.com", 443),
    "gethostbyname": lambda: socket.gethostbyname("example.com"),
    "connect": lambda: socket.create_connection(("93.184.216.34", 80)),
    "asyncio": lambda: asyncio.run(asyncio.open_connection("example.com", 80)),
    "bind": lambda: socket.create_server(("", 8000)),
    "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW),
    "datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)),
}


def addresses(host):
    return sorted({info[4][0] for info in socket.getaddrinfo(host, 80)})


class NoNetwork(BaseSkill):
    manifest = {}

    def execute(self, params):
        said = {}
        for name, way in WAYS.items():
            try:
                said[name] = f"worked: {way()!r}"
            except Exception as error:
                said[name] = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
        return {"said": said, "literals": [addresses(host) for host in ("10.0.0.1", "::1", "127.1", "localhost")]}
