"""Sends and takes more than it may: bytes, requests, connections."""

import requests
from skillcell_guest import bridge
from skillware.core.base_skill import BaseSkill

HOST = "Host: api.example.test"


def _open():
    return bridge.open_connection("api.example.test", 80, False)


def _read(connection):
    size = 0
    try:
        while piece := bridge.read(connection, 1 << 20, 10):
            size += len(piece)
    except bridge.NothingUnderWay:
        pass
    return size


def unpack(amount):
    return len(requests.get(f"http://api.example.test/bomb/{amount}", timeout=20).content)


def take(amount):
    size = 0
    with requests.get(f"http://api.example.test/big/{amount}", timeout=20, stream=True) as answer:
        for piece in answer.iter_content(1 << 20):
            size += len(piece)
    return size


def send(amount):
    return requests.post("http://api.example.test/length", data=bytes(amount), timeout=20).text


def promise(amount):
    """Says how much is coming, and sends nothing of it."""
    connection = _open()
    bridge.write(connection, f"POST /length HTTP/1.1\r\n{HOST}\r\nContent-Length: {amount}\r\n\r\n".encode())
    bridge.close(connection)
    return amount


def stream(amount):
    """In chunks, without saying how much is coming."""
    connection = _open()
    bridge.write(connection, f"POST /length HTTP/1.1\r\n{HOST}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    for _ in range(amount):
        bridge.write(connection, b"80000\r\n" + bytes(0x80000) + b"\r\n")
    bridge.write(connection, b"0\r\n\r\n")
    return _read(connection) > 0


def ask(amount):
    connection = _open()
    for _ in range(amount):
        bridge.write(connection, f"GET /x HTTP/1.1\r\n{HOST}\r\n\r\n".encode())
        _read(connection)
    return amount


def hold(amount):
    return len([_open() for _ in range(amount)])


def again(amount):
    """Goes on with a connection that failed."""
    connection = _open()
    if amount:
        try:
            bridge.write(connection, b"GET /x HTTP/9.9\r\n\r\n")
        except OSError:
            pass
    bridge.write(connection, f"GET /x HTTP/1.1\r\n{HOST}\r\n\r\n".encode())
    return _read(connection) > 0


def guess(amount):
    """Reads from connections that it never opened."""
    own = _open()
    bridge.write(own if not amount else amount, f"GET /x HTTP/1.1\r\n{HOST}\r\n\r\n".encode())
    return _read(own if not amount else amount) > 0


def closed(amount):
    connection = _open()
    if amount:
        bridge.close(connection)
    bridge.write(connection, f"GET /x HTTP/1.1\r\n{HOST}\r\n\r\n".encode())
    return _read(connection) > 0


class Amounts(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return globals()[params["do"]](params["amount"])
