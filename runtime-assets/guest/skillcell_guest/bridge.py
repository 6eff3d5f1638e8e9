"""The way to the host's HTTP client: connections by number, in frames. docs/reference/door.md describes them.

What goes through is HTTP/1.1 as the guest's own library writes it. The host reads it, decides, makes the request
itself, and gives the answer back as bytes. TLS is the host's: a connection only says that it wants it.
"""

import errno
import math

from skillcell_guest import door
from skillcell_guest.standins import errors

OPEN, TLS, WRITE, READ, WAIT, CLOSE, NAME = b"o", b"s", b"w", b"r", b"a", b"c", b"n"
#: What `wait` says of a connection.
UNDER_WAY, READABLE, IDLE = range(3)

#: What the host may answer besides 0, and what that is in Python.
_REFUSED, _NO_NAME, _NO_SERVER, _TIMED_OUT, _TLS, _TOO_LARGE, _PROTOCOL, _IDLE, _RESET, _NOT_TRUSTED, _NO_WAY = range(1, 12)


class NothingUnderWay(ConnectionAbortedError):
    """A read where no request was made that could be answered."""


def available():
    """Whether the operator granted anything of the network."""
    try:
        return bool(_ask(NAME, b""))
    except OSError:
        return False


def addresses(name, port):
    """The addresses of a host that is granted. The port, if it is known, is for what the operator is told."""
    return _ask(NAME, f"{name}:{port}".encode() if port else name.encode()).decode().split()


def open_connection(host, port, tls, timeout=None):
    """Connects, within `timeout` seconds if it is not None."""
    number = _ask(OPEN, bytes([tls]) + port.to_bytes(2, "little") + _milliseconds(timeout) + host.encode())
    return int.from_bytes(number, "little")


def start_tls(connection, timeout):
    _ask(TLS, connection.to_bytes(4, "little") + _milliseconds(timeout))


def write(connection, data):
    _ask(WRITE, connection.to_bytes(4, "little") + data)


def read(connection, size, timeout):
    """At most `size` bytes; none at the end. `timeout` is in seconds, or None."""
    most = min(size, 1 << 20).to_bytes(4, "little")
    return _ask(READ, connection.to_bytes(4, "little") + most + _milliseconds(timeout))


def wait(connections, timeout):
    """Waits until one can be read, or none has an answer under way. Gives a byte for each: see above."""
    return _ask(WAIT, _milliseconds(timeout) + b"".join(number.to_bytes(4, "little") for number in connections))


def close(connection):
    """Whatever the host answers: a connection that it does not have is closed."""
    door.send(CLOSE, connection.to_bytes(4, "little"))


def _milliseconds(seconds):
    number = 0xFFFFFFFF if seconds is None else min(max(math.ceil(seconds * 1000), 0), 0xFFFFFFFE)
    return number.to_bytes(4, "little")


def _ask(kind, payload):
    answer = door.send(kind, payload)
    if answer[0]:
        raise _error(answer[0], answer[1:].decode("utf-8", "replace"))
    return answer[1:]


def _error(kind, text):
    if kind == _NO_NAME:
        return errors.no_such_name()
    if kind == _NO_SERVER:
        return errors.refused()
    if kind == _TIMED_OUT:
        return TimeoutError("timed out")
    if kind in (_TLS, _NOT_TRUSTED):
        import ssl

        return (ssl.SSLError if kind == _TLS else ssl.SSLCertVerificationError)(1, text)
    if kind == _IDLE:
        return NothingUnderWay(errno.ECONNABORTED, "there is no answer to read: nothing was asked")
    if kind == _RESET:
        return errors.reset()
    if kind in (_TOO_LARGE, _PROTOCOL):
        return ConnectionAbortedError(errno.ECONNABORTED, text)
    return ConnectionRefusedError(errno.ECONNREFUSED, text)
