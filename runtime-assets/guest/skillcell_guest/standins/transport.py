"""Stands for asyncio's socket transports: the same connections to the host's HTTP client, read when there is something.

An answer comes only after a request, so a transport expects something once it was written to, until the host says that no
answer is under way. The event loop waits for all that expect something at once, in the host. Connecting, shaking hands
and sending wait in the host too, but one at a time: other tasks rest meanwhile.
"""

import asyncio

from skillcell_guest import bridge
from skillcell_guest.standins import handshake, network

_PIECE = 64 << 10
#: The host gives up on connecting by then.
_LONGEST = 10
#: What the host is asked about at once.
_MOST = 100


class CellTransport(asyncio.Transport):
    def __init__(self, loop, protocol, sock, tls):
        super().__init__({"socket": sock, "peername": sock.getpeername(), "sockname": sock.getsockname()})
        if tls is not None:
            self._extra.update(sslcontext=tls, ssl_object=sock, peercert={}, cipher=sock.cipher(), compression=None)
        self._loop, self._protocol, self._sock = loop, protocol, sock
        self._closing = self._paused = False
        self._shaking = None
        sock.setblocking(False)

    def write(self, data):
        if self._closing:
            return
        name = handshake.name_in(data)
        if name is not None:
            self._loop.expecting.pop(self, None)
            self._shaking = self._loop.create_task(self._shake_hands(name))
            return
        try:
            self._sock.sendall(data)
        except OSError as error:
            self._lose(error)
            return
        self._expect()

    async def _shake_hands(self, name):
        error = None
        try:
            await _patiently(self._loop, lambda seconds: self._sock.use_tls(name, seconds))
        except OSError as failed:
            error = failed
        self._shaking = None
        if not self._closing:
            self._protocol.data_received(handshake.reply(error))
            self._expect()

    def _expect(self):
        # Shaking hands may take a new connection.
        if not (self._paused or self._closing or self._shaking) and self._sock._connection is not None:
            self._loop.expecting[self] = self._sock._connection

    def read(self):
        if self._closing or self._paused:
            return
        try:
            data = self._sock.recv(_PIECE)
        except BlockingIOError:
            self._expect()
            return
        except bridge.NothingUnderWay:
            return
        except OSError as error:
            self._lose(error)
            return
        if data:
            self._protocol.data_received(data)
            self._expect()
        else:
            self._protocol.eof_received()
            self.close()

    def pause_reading(self):
        self._paused = True
        self._loop.expecting.pop(self, None)

    def resume_reading(self):
        self._paused = False
        self._expect()

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
            self._loop.expecting.pop(self, None)
            if self._shaking is not None:
                self._shaking.cancel()
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


def wait(expecting, timeout):
    """Those of `expecting` (transports with their connections) that can be read, waiting for the first of them. They, and
    those with nothing under way, are taken out."""
    transports = list(expecting)[:_MOST]
    states = bridge.wait([expecting[transport] for transport in transports], timeout)
    for transport, state in zip(transports, states):
        if state != bridge.UNDER_WAY:
            del expecting[transport]
    return [transport for transport, state in zip(transports, states) if state == bridge.READABLE]


async def create_connection(loop, protocol_factory, host, port, *, tls=None, server_hostname=None, sock=None):
    if sock is None:
        address = network.getaddrinfo(host, port)[0][4]
        sock = network.CellSocket()
        await connect(loop, sock, address)
    if tls is not None:
        if tls is True:
            import ssl

            tls = ssl.create_default_context()
        sock.setblocking(True)
        sock = tls.wrap_socket(sock, server_hostname=server_hostname or host)
    protocol = protocol_factory()
    transport = CellTransport(loop, protocol, sock, tls)
    protocol.connection_made(transport)
    return transport, protocol


async def connect(loop, sock, address):
    await _patiently(loop, lambda seconds: _connect(sock, address, seconds))
    sock.setblocking(False)


def _connect(sock, address, seconds):
    sock.settimeout(seconds)
    sock.connect(address)


async def _patiently(loop, attempt):
    """Calls `attempt(seconds)`, which waits in the host, so that timers go off in time all the same: it gets as long as
    until the next one, then again, and each time at least twice as long as before."""
    least = 0.02
    while True:
        until = loop.until_next_timer()
        seconds = _LONGEST if until is None else min(max(until, least), _LONGEST)
        try:
            return attempt(seconds)
        except TimeoutError:
            if seconds == _LONGEST:
                raise
        least *= 2
        # A timer that is due is called in the next round, and what it cancels ends in the one after.
        for _ in range(3):
            await asyncio.sleep(0)
