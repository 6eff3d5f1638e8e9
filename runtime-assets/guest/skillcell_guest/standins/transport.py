"""Stands for asyncio's socket transports: the same connections to the host's HTTP client, read when there is something.

An answer comes only after a request, so a transport reads after it was written to, and goes on until the host says that
no answer is under way. A read waits in the host: other tasks rest meanwhile.
"""

import asyncio

from skillcell_guest import bridge
from skillcell_guest.standins import network

_PIECE = 64 << 10


class CellTransport(asyncio.Transport):
    def __init__(self, loop, protocol, sock, tls):
        super().__init__({"socket": sock, "peername": sock.getpeername(), "sockname": sock.getsockname()})
        if tls is not None:
            self._extra.update(sslcontext=tls, ssl_object=sock, peercert={}, cipher=sock.cipher(), compression=None)
        self._loop, self._protocol, self._sock = loop, protocol, sock
        self._closing = self._paused = self._reading = False

    def write(self, data):
        if self._closing:
            return
        try:
            self._sock.sendall(data)
        except OSError as error:
            self._lose(error)
            return
        self._read_soon()

    def _read_soon(self):
        if not (self._reading or self._paused or self._closing):
            self._reading = True
            self._loop.call_soon(self._read)

    def _read(self):
        self._reading = False
        if self._closing or self._paused:
            return
        try:
            data = self._sock.recv(_PIECE)
        except bridge.NothingUnderWay:
            return
        except OSError as error:
            self._lose(error)
            return
        if data:
            self._protocol.data_received(data)
            self._read_soon()
        else:
            self._protocol.eof_received()
            self.close()

    def pause_reading(self):
        self._paused = True

    def resume_reading(self):
        self._paused = False
        self._read_soon()

    def is_reading(self):
        return not (self._paused or self._closing)

    def is_closing(self):
        return self._closing

    def close(self):
        self._lose(None)

    abort = close

    def _lose(self, error):
        if not self._closing:
            self._closing = True
            self._sock.close()
            self._loop.call_soon(self._protocol.connection_lost, error)

    def get_protocol(self):
        return self._protocol

    def set_protocol(self, protocol):
        self._protocol = protocol

    def can_write_eof(self):
        return False

    def get_write_buffer_size(self):
        return 0

    def get_write_buffer_limits(self):
        return 0, 0

    def set_write_buffer_limits(self, high=None, low=None):
        pass


async def create_connection(loop, protocol_factory, host, port, *, tls=None, server_hostname=None, sock=None):
    if sock is None:
        sock = network.CellSocket()
        sock.connect(network.getaddrinfo(host, port)[0][4])
    if tls is not None:
        if tls is True:
            import ssl

            tls = ssl.create_default_context()
        sock = tls.wrap_socket(sock, server_hostname=server_hostname or host)
    protocol = protocol_factory()
    transport = CellTransport(loop, protocol, sock, tls)
    protocol.connection_made(transport)
    return transport, protocol
