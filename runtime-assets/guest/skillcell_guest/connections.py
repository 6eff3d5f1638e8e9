"""Connections by number where no frames reach the host: the functions of `bridge`, over sockets that lead to the proxy.

In a container the proxy's socket is the only way out. What is written here goes there as it is, so that a skill which
speaks HTTP by hand meets the host's rules, and not ours.
"""

import errno
import math
import os

from skillcell_guest import bridge, native

_open = {}
#: Connections that have answered what was asked last.
_answered = set()
#: After an answer nobody says whether more is under way; silence for so many seconds is taken for a no.
_SILENCE = 0.5


def install():
    for function in (open_connection, start_tls, write, read, wait, close):
        setattr(bridge, function.__name__, function)


def open_connection(host, port, tls, timeout=None):
    connection = native.Socket()
    try:
        connection._reach()
        payload = b"\0" + port.to_bytes(2, "little") + bridge._milliseconds(timeout) + host.encode()
        answer = native._exchange(connection, bridge.OPEN, payload)
        if answer[0]:
            raise bridge._error(answer[0], answer[1:].decode("utf-8", "replace"))
        connection._connection, connection._peer = answer[1:], (host, port)
        if tls:
            connection.use_tls(host, timeout)
    except BaseException:
        connection.close()
        raise
    number = connection.fileno()
    _open[number] = connection
    return number


def start_tls(connection, timeout):
    found = _found(connection)
    found.use_tls(found._peer[0], timeout)


def write(connection, data):
    found = _found(connection)
    _answered.discard(connection)
    found.settimeout(None)
    found.sendall(data)


def read(connection, size, timeout):
    found = _found(connection)
    patient = connection not in _answered
    found.settimeout(timeout if patient else min(_SILENCE, math.inf if timeout is None else timeout))
    try:
        data = found.recv(min(size, 1 << 20))
    except TimeoutError:
        if patient:
            raise
        raise bridge.NothingUnderWay(errno.ECONNABORTED, "there is no answer to read: nothing was asked") from None
    _answered.add(connection)
    return data


def wait(connections, timeout):
    import select

    found = [_found(number) for number in connections]
    readable, _, _ = select.select(found, [], [], timeout)
    return bytes(bridge.READABLE if one in readable else bridge.UNDER_WAY for one in found)


def close(connection):
    _found(connection)
    _answered.discard(connection)
    _open.pop(connection).close()


def _found(connection):
    if connection not in _open:
        raise ConnectionAbortedError(errno.ECONNABORTED, os.strerror(errno.ECONNABORTED))
    return _open[connection]
