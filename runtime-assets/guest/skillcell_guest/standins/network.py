"""Stands for sockets and name resolution. There is no network: connecting fails as it does where nobody answers.

A socket can be made and configured, `connect` raises `ConnectionRefusedError`, and names do not resolve (`gaierror`),
so that HTTP libraries raise their usual exceptions and a skill's own fallback runs. Addresses in figures, and
`localhost`, resolve to themselves, since guards against internal addresses ask that. `CellSocket.connect` is the place
for a way to the host's HTTP client.
"""

import _socket
import errno
import ipaddress
import socket

from skillcell_guest.standins import missing

WHAT = "network"
WHY = "it reaches nothing unless the operator grants it"
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
#: What a socket can do only once it is connected or bound.
_NEEDS_A_PEER = {
    "send", "sendall", "sendto", "sendmsg", "sendfile", "recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg",
    "makefile", "getpeername", "getsockname", "listen", "accept", "dup",
}  # fmt: skip


class CellSocket:
    """As much of a socket as can be had without a network."""

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

    def connect(self, address):
        raise missing.error(f"{WHAT} (connecting to {address!r})", WHY, ConnectionRefusedError, errno.ECONNREFUSED)

    def connect_ex(self, address):
        return errno.ECONNREFUSED

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
        return -1

    def close(self):
        pass

    def detach(self):
        return -1

    def shutdown(self, how):
        raise missing.error(WHAT, WHY, number=errno.ENOTCONN)

    def __getattr__(self, name):
        if name in _NEEDS_A_PEER:
            raise missing.error(WHAT, WHY, number=errno.ENOTCONN)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    number = _port(port)
    if isinstance(host, (bytes, bytearray)):
        host = host.decode()
    found = [pair for pair in _addresses(host) if family in (0, pair[0])]
    if not found:
        raise _unknown(host)
    kinds = [(socket.SOCK_STREAM, socket.IPPROTO_TCP), (socket.SOCK_DGRAM, socket.IPPROTO_UDP)]
    return [
        (socket.AddressFamily(version), kind, protocol, "", (address, number) + (0, 0) * (version == socket.AF_INET6))
        for version, address in found
        for kind, protocol in kinds
        if type in (0, kind) and proto in (0, protocol)
    ]


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
    return socket.gaierror(socket.EAI_NONAME, missing.text(f"{WHAT} (the address of {host!r})", WHY))


def install():
    for name, value in _CONSTANTS.items():
        if not hasattr(socket, name):
            setattr(socket, name, value)
    socket.socket = socket.SocketType = CellSocket
    for name in ("gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo", "getservbyname"):
        setattr(_socket, name, globals()[name])
        setattr(socket, name, globals()[name])
    _socket.getaddrinfo = socket.getaddrinfo = getaddrinfo
    _socket.gethostname = socket.gethostname = lambda: "cell"
    for name in ("socketpair", "fromfd", "dup", "create_server", "send_fds", "recv_fds"):
        setattr(socket, name, missing.refusing(f"socket.{name}", "sockets", WHY))
