"""Connections by number where no frames reach the host: the functions of `bridge`, over sockets that lead to the proxy.

In a container the proxy's socket is the only way out. What is written here goes there as it is, so that a skill which
speaks HTTP by hand meets the host's rules, and not ours.
"""

import errno
import os

from skillcell_guest import bridge, native

_open = {}


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
    found.settimeout(None)
    found.sendall(data)


def read(connection, size, timeout):
    found = _found(connection)
    found.settimeout(timeout)
    return found.recv(min(size, 1 << 20))


def wait(connections, timeout):
    import select

    found = [_found(number) for number in connections]
    readable, _, _ = select.select(found, [], [], timeout)
    return bytes(bridge.READABLE if one in readable else bridge.UNDER_WAY for one in found)


def close(connection):
    _found(connection)
    _open.pop(connection).close()


def _found(connection):
    if connection not in _open:
        raise ConnectionAbortedError(errno.ECONNABORTED, os.strerror(errno.ECONNABORTED))
    return _open[connection]
