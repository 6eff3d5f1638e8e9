"""Stands for sockets and name resolution. What a socket carries is HTTP, and it carries it to the host.

A connected socket hands what is written to the host's HTTP client (see `bridge`), which decides, asks and answers. So
`http.client`, `urllib`, `requests` and `httpx` work on it, and nothing else does. Without a grant nothing is reached: a
request raises `ConnectionRefusedError`, and names do not resolve (`gaierror`), so that libraries raise their usual
exceptions and a skill's own fallback runs. Addresses in figures, and `localhost`, resolve to themselves, since guards
against internal addresses ask that.
"""

import _socket
import errno
import io
import ipaddress
import itertools
import select
import socket
import weakref

from skillcell_guest import bridge
from skillcell_guest.standins import missing

WHAT = "network"
WHY = "it reaches nothing unless the operator grants it"
_NOT_YET = "a skill is imported without it, whatever is granted; make requests in `execute` or in the constructor"
#: Whether a skill is being imported: what it does then is done once, for all calls.
importing = False
#: What goes to the host at once.
_PIECE = 256 << 10
_LOCAL = {"localhost": ("127.0.0.1", "::1"), "localhost.localdomain": ("127.0.0.1", "::1"), "": ("127.0.0.1", "::1")}
#: Linux's numbers; only their names matter here.
_CONSTANTS = {
    "SOCK_RAW": 3, "SO_DEBUG": 1, "SO_REUSEADDR": 2, "SO_ERROR": 4, "SO_BROADCAST": 6, "SO_SNDBUF": 7, "SO_RCVBUF": 8,
    "SO_KEEPALIVE": 9, "SO_LINGER": 13, "SO_REUSEPORT": 15, "SO_RCVTIMEO": 20, "SO_SNDTIMEO": 21, "MSG_OOB": 1,
    "MSG_DONTWAIT": 64, "MSG_NOSIGNAL": 16384,
}  # fmt: skip
_PORTS = {
    "ftp": 21, "ssh": 22, "smtp": 25, "domain": 53, "http": 80, "imap": 143, "https": 443, "smtps": 465, "imaps": 993,
}  # fmt: skip
#: What no socket of a cell can do.
_NEVER = {"sendto", "sendmsg", "sendfile", "recvfrom", "recvfrom_into", "recvmsg", "listen", "accept", "dup"}
#: The names that addresses were asked for: what a library connects to is an address, what it means is a name. Several
#: names may lead to one address, so an address remembers its own; this is for one that was taken apart and put together.
_names = {}
#: Descriptors of our sockets, far above those of files.
_numbers = itertools.count(1 << 20)
_by_number = weakref.WeakValueDictionary()


class _Address(str):
    """An address that knows which name it was asked for."""

    __slots__ = ("name",)


def _meant(host):
    return host.name if isinstance(host, _Address) else _names.get(host, host)


class CellSocket:
    """As much of a socket as HTTP needs."""

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        if fileno is not None:
            raise missing.error("sockets from a descriptor", WHY)
        self.family = socket.AF_INET if family == -1 else family
        self.type = socket.SOCK_STREAM if type == -1 else type
        self.proto = 0 if proto == -1 else proto
        if self.type not in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            raise missing.error("raw sockets", WHY, PermissionError, errno.EPERM)
        self._timeout = _socket.getdefaulttimeout()
        self._options = {}
        self._peer = self._connection = None
        self._files = 0
        self._closed = False
        self._number = next(_numbers)
        _by_number[self._number] = self

    def connect(self, address):
        if not isinstance(address, (tuple, list)) or len(address) < 2:
            raise missing.error(f"{WHAT} (connecting to {address!r})", "only HTTP to a host and port can be granted")
        host, port = address[:2]
        self._open((_meant(host), port), False, self._timeout or None, address)

    def _open(self, peer, tls, timeout, address):
        if self.type != socket.SOCK_STREAM:
            raise missing.error("datagrams", WHY, ConnectionRefusedError, errno.ECONNREFUSED)
        self._drop()
        try:
            self._connection = bridge.open_connection(*peer, tls, timeout)
        except ConnectionRefusedError:
            if bridge.available():
                raise
            what = f"{WHAT} (connecting to {address!r})"
            raise missing.error(what, _why(), ConnectionRefusedError, errno.ECONNREFUSED) from None
        self._peer = peer

    def connect_ex(self, address):
        try:
            self.connect(address)
        except OSError as error:
            return error.errno or errno.ETIMEDOUT
        return 0

    def use_tls(self, name, timeout):
        """From now on the host speaks TLS on this connection, to `name`. Can be tried again if it took too long."""
        self._needs_a_peer()
        if self._connection is None or (name and name != self._peer[0]):
            peer = (name or self._peer[0], self._peer[1])
            self._open(peer, True, timeout, peer)
            return
        try:
            bridge.start_tls(self._connection, timeout)
        except OSError:
            self._drop()
            raise

    def sendall(self, data, flags=0):
        self._connected()
        view = memoryview(data).cast("B")
        for start in range(0, len(view), _PIECE):
            bridge.write(self._connection, bytes(view[start : start + _PIECE]))

    def send(self, data, flags=0):
        self.sendall(data)
        return memoryview(data).nbytes

    def recv(self, size, flags=0):
        self._connected()
        try:
            return bridge.read(self._connection, size, self._timeout)
        except TimeoutError:
            if self._timeout == 0:
                raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable") from None
            raise

    def recv_into(self, buffer, size=0, flags=0):
        view = memoryview(buffer).cast("B")
        data = self.recv(size or len(view))
        view[: len(data)] = data
        return len(data)

    def _connected(self):
        # As with any socket, files that were made of it outlive its `close`.
        closed = self._closed and self._files <= 0
        if closed or self._connection is None:
            raise missing.error(WHAT, WHY, number=errno.EBADF if closed else errno.ENOTCONN)

    def makefile(self, mode="r", buffering=None, *, encoding=None, errors=None, newline=None):
        return socket_makefile(self, mode, buffering, encoding=encoding, errors=errors, newline=newline)

    def getpeername(self):
        self._needs_a_peer()
        return self._peer

    def getsockname(self):
        self._needs_a_peer()
        return ("127.0.0.1", 0)

    def _needs_a_peer(self):
        if self._peer is None:
            raise missing.error(WHAT, WHY, number=errno.ENOTCONN)

    def bind(self, address):
        raise missing.error(f"{WHAT} (listening on {address!r})", WHY, PermissionError, errno.EACCES)

    def settimeout(self, seconds):
        if seconds is not None and seconds < 0:
            raise ValueError("Timeout value out of range")
        self._timeout = seconds

    def gettimeout(self):
        return self._timeout

    @property
    def timeout(self):
        return self._timeout

    def setblocking(self, blocking):
        self._timeout = None if blocking else 0.0

    def getblocking(self):
        return self._timeout != 0.0

    def setsockopt(self, level, option, value, size=None):
        self._options[level, option] = value

    def getsockopt(self, level, option, size=None):
        return self._options.get((level, option), 0)

    def fileno(self):
        return -1 if self._closed else self._number

    def close(self):
        self._closed = True
        if self._files <= 0:
            self._real_close()

    def _real_close(self):
        self._drop()

    def _drop(self):
        connection, self._connection = self._connection, None
        if connection is not None:
            bridge.close(connection)

    def _decref_socketios(self):
        """As `socket.makefile`'s files expect: the connection lasts as long as one of them."""
        self._files -= 1
        if self._closed and self._files <= 0:
            self._real_close()

    def detach(self):
        self._closed = True
        return -1

    def shutdown(self, how):
        self._needs_a_peer()

    def __getattr__(self, name):
        if name in _NEVER:
            raise missing.error(WHAT, WHY, number=errno.ENOTSUP)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class CellPoll:
    """`select.poll`, which also takes our sockets, themselves or by number. They can always be written to."""

    def __init__(self):
        self._real = _real_poll()
        self._cells = {}

    def register(self, fd, eventmask=None):
        mask = select.POLLIN | select.POLLOUT if eventmask is None else eventmask
        ours = _ours(fd)
        if ours is not None:
            self._cells[ours] = mask
        else:
            self._real.register(fd, mask)

    modify = register

    def unregister(self, fd):
        ours = _ours(fd)
        if ours is not None:
            del self._cells[ours]
        else:
            self._real.unregister(fd)

    def poll(self, timeout=None):
        if not self._cells:
            return self._real.poll(timeout)
        ready = {sock: select.POLLOUT for sock, mask in self._cells.items() if mask & select.POLLOUT}
        wait = 0 if ready else None if timeout is None or timeout < 0 else timeout / 1000
        for sock in _readable([sock for sock, mask in self._cells.items() if mask & select.POLLIN], wait):
            ready[sock] = ready.get(sock, 0) | select.POLLIN
        return [(sock._number, events) for sock, events in ready.items()] + self._real.poll(0)


def cell_select(reads, writes, errors, timeout=None):
    cells = {fd: _ours(fd) for fd in (*reads, *writes, *errors)}
    if not any(cells.values()):
        return _real_select(reads, writes, errors, timeout)
    can_write = [fd for fd in writes if cells[fd]]
    readable = _readable([cells[fd] for fd in reads if cells[fd]], 0 if can_write else timeout)
    can_read = [fd for fd in reads if cells[fd] in readable]
    reads, writes, errors = ([fd for fd in fds if not cells[fd]] for fds in (reads, writes, errors))
    if reads or writes or errors:
        reads, writes, errors = _real_select(reads, writes, errors, 0)
    return reads + can_read, writes + can_write, errors


def _ours(fd):
    return fd if isinstance(fd, CellSocket) else _by_number.get(fd) if isinstance(fd, int) else None


def _readable(sockets, timeout):
    """Nothing comes unasked: between requests, when libraries look whether a connection is still good, there is nothing
    to read, and nothing to wait for."""
    sockets = [sock for sock in sockets if sock._connection is not None]
    if not sockets:
        return []
    states = bridge.wait([sock._connection for sock in sockets], timeout)
    return [sock for sock, state in zip(sockets, states) if state == bridge.READABLE]


_real_poll, _real_select = getattr(select, "poll", None), select.select


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    number = _port(port)
    if isinstance(host, (bytes, bytearray)):
        host = host.decode()
    found = [pair for pair in _addresses(host) or _granted_addresses(host, number) if family in (0, pair[0])]
    if not found:
        raise _unknown(host)
    found = [(version, _named(address, host)) for version, address in found]
    kinds = [(socket.SOCK_STREAM, socket.IPPROTO_TCP), (socket.SOCK_DGRAM, socket.IPPROTO_UDP)]
    return [
        (socket.AddressFamily(version), kind, protocol, "", (address, number) + (0, 0) * (version == socket.AF_INET6))
        for version, address in found
        for kind, protocol in kinds
        if type in (0, kind) and proto in (0, protocol)
    ]


def _named(address, host):
    """An address that is asked for by itself means itself again, unless it knows its name."""
    named = _Address(address)
    named.name = _names[address] = host.name if isinstance(host, _Address) else host or address
    return named


def gethostbyname(host):
    return getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]


def gethostbyname_ex(host):
    return host, [], [gethostbyname(host)]


def gethostbyaddr(address):
    raise socket.herror(1, missing.text(WHAT, WHY))


def getnameinfo(address, flags):
    return address[0], str(address[1])


def getservbyname(name, protocol="tcp"):
    if name in _PORTS:
        return _PORTS[name]
    raise OSError("service/proto not found")


def _addresses(host):
    """Family and address of what needs no asking."""
    if host is None:
        host = ""
    if host.lower() in _LOCAL:
        return list(zip((socket.AF_INET, socket.AF_INET6), _LOCAL[host.lower()]))
    try:
        address = ipaddress.ip_address(host)
        return [(socket.AF_INET if address.version == 4 else socket.AF_INET6, str(address))]
    except ValueError:
        pass
    try:
        # `127.1`, `0x7f000001` and the like: what the C library takes for an address.
        return [(socket.AF_INET, socket.inet_ntoa(socket.inet_aton(host)))]
    except (OSError, ValueError):
        return []


def _granted_addresses(host, port):
    """The host looks up names that are granted, and no others. One that was looked up in vain says so."""
    try:
        found = [ipaddress.ip_address(address) for address in bridge.addresses(host, port)]
    except socket.gaierror:
        raise
    except OSError:
        return []
    return [(socket.AF_INET if address.version == 4 else socket.AF_INET6, str(address)) for address in found]


def socket_makefile(sock, mode, buffering, **text):
    """`socket.socket.makefile` works on anything that has `recv_into` and `send`; it counts its files itself."""
    sock._files += 1
    raw = socket.SocketIO(sock, "rw" if "r" in mode and "w" in mode else "r" if "r" in mode else "w")
    if buffering == 0:
        return raw
    size = io.DEFAULT_BUFFER_SIZE if buffering is None or buffering < 0 else buffering
    if "r" in mode and "w" in mode:
        buffered = io.BufferedRWPair(raw, raw, size)
    else:
        buffered = (io.BufferedReader if "r" in mode else io.BufferedWriter)(raw, size)
    return buffered if "b" in mode else io.TextIOWrapper(buffered, **text)


def _port(port):
    if port is None:
        return 0
    if isinstance(port, (str, bytes)):
        text = port.decode() if isinstance(port, bytes) else port
        if text.isdigit():
            return int(text)
        if text in _PORTS:
            return _PORTS[text]
        raise socket.gaierror(socket.EAI_SERVICE, f"Unrecognized service {text!r}")
    return int(port)


def _unknown(host):
    return socket.gaierror(socket.EAI_NONAME, missing.text(f"{WHAT} (the address of {host!r})", _why()))


def _why():
    return _NOT_YET if importing else WHY


def install():
    for name, value in _CONSTANTS.items():
        if not hasattr(socket, name):
            setattr(socket, name, value)
    socket.socket = socket.SocketType = CellSocket
    for name in ("gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo", "getservbyname"):
        setattr(_socket, name, globals()[name])
        setattr(socket, name, globals()[name])
    select.select = cell_select
    if _real_poll is not None:
        select.poll = CellPoll
    _socket.getaddrinfo = socket.getaddrinfo = getaddrinfo
    _socket.gethostname = socket.gethostname = lambda: "cell"
    for name in ("socketpair", "fromfd", "dup", "create_server", "send_fds", "recv_fds"):
        setattr(socket, name, missing.refusing(f"socket.{name}", "sockets", WHY))
