"""Stands for the numbers that errors of sockets and of names have on Linux.

Skills put the text of such an error into their results (`[Errno 111] Connection refused`), and compare its number with the
name's. Both are then as outside. Nothing below Python raises these here: sockets are ours, see `network`. Errors of files
keep WASI's numbers, which the C library raises. What this cannot do: `OSError(errno.ECONNREFUSED)` is no
`ConnectionRefusedError`, since CPython knows the numbers that it was built with.
"""

import _socket
import errno
import socket

_NUMBERS = {
    "EADDRINUSE": 98, "EADDRNOTAVAIL": 99, "ENETDOWN": 100, "ENETUNREACH": 101, "ECONNABORTED": 103, "ECONNRESET": 104,
    "EISCONN": 106, "ENOTCONN": 107, "ETIMEDOUT": 110, "ECONNREFUSED": 111, "EHOSTUNREACH": 113, "EALREADY": 114,
    "EINPROGRESS": 115,
}  # fmt: skip
_OF_NAMES = {
    "EAI_BADFLAGS": -1, "EAI_NONAME": -2, "EAI_AGAIN": -3, "EAI_FAIL": -4, "EAI_NODATA": -5, "EAI_FAMILY": -6,
    "EAI_SOCKTYPE": -7, "EAI_SERVICE": -8, "EAI_ADDRFAMILY": -9, "EAI_MEMORY": -10, "EAI_SYSTEM": -11,
    "EAI_OVERFLOW": -12,
}  # fmt: skip
_TEXTS = {"ECONNREFUSED": "Connection refused", "ECONNRESET": "Connection reset by peer"}


def install():
    for name, number in _NUMBERS.items():
        errno.errorcode.pop(getattr(errno, name, None), None)
        errno.errorcode[number] = name
        setattr(errno, name, number)
    for name, number in _OF_NAMES.items():
        for module in (_socket, socket):
            setattr(module, name, number)


def refused():
    return _made(ConnectionRefusedError, "ECONNREFUSED")


def reset():
    return _made(ConnectionResetError, "ECONNRESET")


def no_such_name():
    return socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def _made(kind, name):
    return kind(getattr(errno, name), _TEXTS[name])
