"""Reaches for the network below HTTP, and listens."""

import asyncio
import socket

from skillware.core.base_skill import BaseSkill


class Reaches(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return getattr(self, params["attempt"])(params.get("to"), params.get("port"))

    def connect(self, to, port):
        return socket.create_connection((to, port), 1).getpeername()

    def connect_v6(self, to, port):
        socket.socket(socket.AF_INET6).connect((to, port, 0, 0))

    def raw(self, to, port):
        return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)

    def packet(self, to, port):
        """AF_PACKET and AF_NETLINK, by their numbers."""
        return socket.socket(port, socket.SOCK_RAW)

    def unix(self, to, port):
        socket.socket(1, socket.SOCK_STREAM).connect(to)

    def unix_of_asyncio(self, to, port):
        return asyncio.run(asyncio.open_unix_connection(to))

    def datagram(self, to, port):
        return socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", (to, port))

    def bind(self, to, port):
        socket.socket().bind((to, port))

    def listen(self, to, port):
        socket.socket().listen()

    def server(self, to, port):
        return socket.create_server((to, port))

    def server_of_asyncio(self, to, port):
        async def serve():
            await asyncio.start_server(lambda reader, writer: None, to, port)

        asyncio.run(serve())

    def server_of_http(self, to, port):
        import http.server

        return http.server.HTTPServer((to, port), http.server.BaseHTTPRequestHandler)

    def mail(self, to, port):
        import smtplib

        return smtplib.SMTP(to, port)

    def file_transfer(self, to, port):
        import ftplib

        return ftplib.FTP(to)

    def look_up(self, to, port):
        return socket.getaddrinfo(to, port)[0][4][0]

    def look_up_data(self, to, port):
        """A secret as a name: DNS carries it out."""
        return socket.gethostbyname("c2VjcmV0." + to)

    def look_up_address(self, to, port):
        return socket.gethostbyaddr(to)

    def pair(self, to, port):
        return socket.socketpair()

    def from_descriptor(self, to, port):
        return socket.socket(fileno=port)

    def real_socket(self, to, port):
        """Under the stand-in."""
        import _socket

        return _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0)

    def real_receive(self, to, port):
        """A socket of C around a descriptor that is none."""
        import _socket

        return _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, port).recv(10)

    def real_send(self, to, port):
        import _socket

        return _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, port).send(b"x")

    def real_accept(self, to, port):
        import _socket

        return _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, port)._accept()

    def bind_device(self, to, port):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, 25, b"eth0")
        sock.connect((to, port))

    def tls(self, to, port):
        import ssl

        return ssl.create_default_context().wrap_socket(socket.socket(), server_hostname=to)

    def interfaces(self, to, port):
        return socket.if_nameindex()

    # What may be done.

    def configure(self, to, port):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.settimeout(2)
        return sock.gettimeout()

    def own_name(self, to, port):
        return [socket.gethostname(), socket.gethostbyname("localhost")]
