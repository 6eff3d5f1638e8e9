"""The guest's modules in a Python of this machine, for the tiers that are no cells. docs/reference/tiers.md says more.

There, processes, threads and files are the machine's own, as far as the sandbox lets them. Only the network is not: a
stream socket is a connection to the host's HTTP proxy, on a Unix socket, and TLS is the host's. So `http.client`,
`urllib`, `requests`, `httpx` and asyncio work on it, and native code that opens sockets by itself reaches nothing.

    to the proxy    u32 length, then `o` or `n` as through the door, or `e` <u32 connection>: how that ended
    from it         u32 length, then the answer; after a good `o` the stream is the connection's

Where a process may connect to nothing, the proxy is a stream that it holds: for a byte on it, it is handed a connection.
"""

import array
import contextlib
import errno
import importlib.util
import os
import socket
import sys
import threading

from skillcell_guest import bridge, door, failure
from skillcell_guest.standins import handshake, missing, network

_Plain = socket.socket
_INTERNET = (socket.AF_INET, socket.AF_INET6)
_WHY_OF = b"e"
_LONGEST = 1 << 20
#: The path of the proxy's socket; or the stream that connections come from.
_proxy = None
_turn = threading.Lock()


def install(proxy):
    global _proxy
    if isinstance(proxy, int):
        os.set_inheritable(proxy, False)
        proxy = _Plain(socket.AF_UNIX, socket.SOCK_STREAM, 0, proxy)
    _proxy = proxy
    sys.meta_path.insert(0, _Tls)
    to_host = door.send
    door.send = lambda kind, payload=b"": (_ask if kind == bridge.NAME else to_host)(kind, payload)
    socket.socket = socket.SocketType = Socket
    for name in ("gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo", "getaddrinfo"):
        setattr(socket, name, getattr(network, name))
    socket.gethostname = lambda: "cell"


def run(folder, package):
    """Imports the skill and makes the call, as a cell that has no image does."""
    from skillcell_guest import call, load

    try:
        load.load(folder, package)
    except BaseException as error:
        failure.hand_over(error)
        return
    call.enter()


def run_script(folder, path, name, stdin):
    """Runs a script in a copy of its folder, in a process of its own, and tells its exit status and what it wrote there."""
    import json
    import tempfile

    from skillcell_guest import call, written

    try:
        params, _ = call._take()
        work = os.path.join(tempfile.mkdtemp(), name)
        written.copy(folder, work)
        child = os.fork()
        if child == 0:
            _become_script(work, path, stdin, params)
        _, ended = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(ended)
        end = {"exit_code": 128 - status if status < 0 else status, "files": written.files(work, folder)}
        door.send(door.GIVE, json.dumps(end).encode())
    except BaseException as error:
        failure.hand_over(error)


def _become_script(work, path, stdin, params):
    """Never returns."""
    status = 1
    try:
        import base64
        import tempfile

        import site

        from skillcell_guest import script

        # `exit` and `quit`, which Python without its site lacks.
        site.setquit()
        with tempfile.TemporaryFile() as file:
            file.write(base64.b64decode(stdin))
            file.seek(0)
            os.dup2(file.fileno(), 0)
        sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
        script.enter_folder(work, path)
        status = script.run_program(params.get("argv") or [], params.get("code"), called=params.get("called"))[0]
        script.let_go()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
    finally:
        os._exit(status)


class _Tls:
    """Finds the stand-in for `ssl` when something imports it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "ssl":
            return None
        file = os.path.join(os.path.dirname(__file__), "standins", "modules", "ssl.py")
        return importlib.util.spec_from_file_location(name, file)


def _frame(kind, payload):
    return (1 + len(payload)).to_bytes(4, "little") + kind + payload


def _ask(kind, payload):
    """One question to the proxy, on a connection of its own."""
    with _dial() as stream:
        return _exchange(stream, kind, payload)


def _dial():
    if isinstance(_proxy, _Plain):
        return _Plain(socket.AF_UNIX, socket.SOCK_STREAM, 0, _handed())
    stream = _Plain(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.connect(_proxy)
    except BaseException:
        stream.close()
        raise
    return stream


def _handed():
    """The number of a descriptor: a fresh connection to the proxy."""
    number = array.array("i")
    with _turn:
        _proxy.send(b"c")
        _, parts, _, _ = _proxy.recvmsg(1, socket.CMSG_SPACE(number.itemsize))
    for level, kind, data in parts:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            number.frombytes(data[: number.itemsize])
    if not number:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return number[0]


def _unconnected(kind):
    """The number of a socket that is connected to nobody: where none is made, one of a pair is."""
    kept, other = socket.socketpair(socket.AF_UNIX, kind)
    other.close()
    return kept.detach()


def _exchange(stream, kind, payload):
    stream.sendall(_frame(kind, payload))
    size = int.from_bytes(_exactly(stream, 4), "little")
    if size > _LONGEST:
        raise ConnectionAbortedError(errno.ECONNABORTED, "the proxy's answer is too long")
    return _exactly(stream, size)


def _exactly(stream, size):
    parts = []
    while size:
        part = _Plain.recv(stream, size)
        if not part:
            raise ConnectionAbortedError(errno.ECONNABORTED, "the proxy broke off")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Socket(_Plain):
    """A socket whose internet is the proxy. Any other kind is what it says."""

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
        asked = socket.AF_INET if family == -1 else family
        kind = socket.SOCK_STREAM if type == -1 else type
        streams = fileno is None and asked in _INTERNET and kind & 0xF == socket.SOCK_STREAM
        if streams:
            super().__init__(socket.AF_UNIX, kind, 0, _unconnected(kind) if isinstance(_proxy, _Plain) else None)
        else:
            super().__init__(family, type, proto, fileno)
        self._asked, self._peer, self._connection = (asked if streams else None), None, None

    @property
    def family(self):
        return super().family if self._asked is None else socket.AddressFamily(self._asked)

    @property
    def proto(self):
        return super().proto if self._asked is None else socket.IPPROTO_TCP

    def connect(self, address):
        if self._asked is None:
            return super().connect(address)
        if not isinstance(address, (tuple, list)) or len(address) < 2:
            raise missing.error(f"network (connecting to {address!r})", "only HTTP to a host and port can be granted")
        self._open((network._meant(address[0]), address[1]), address)

    def connect_ex(self, address):
        if self._asked is None:
            return super().connect_ex(address)
        try:
            self.connect(address)
        except OSError as error:
            return error.errno or errno.ETIMEDOUT
        return 0

    def _open(self, peer, address):
        timeout = self.gettimeout()
        payload = b"\0" + peer[1].to_bytes(2, "little") + bridge._milliseconds(timeout or None) + peer[0].encode()
        super().settimeout(None)
        try:
            self._reach()
            answer = _exchange(self, bridge.OPEN, payload)
        finally:
            super().settimeout(timeout)
        if answer[0]:
            error = bridge._error(answer[0], answer[1:].decode("utf-8", "replace"))
            if isinstance(error, ConnectionRefusedError) and not bridge.available():
                what = f"network (connecting to {address!r})"
                error = missing.error(what, network._why(), ConnectionRefusedError, errno.ECONNREFUSED)
            raise error
        self._connection, self._peer = answer[1:], peer

    def _reach(self):
        if not isinstance(_proxy, _Plain):
            return super().connect(_proxy)
        number = _handed()
        os.dup2(number, self.fileno(), inheritable=False)
        os.close(number)

    def use_tls(self, name, timeout):
        """From now on the host speaks TLS on this connection, to `name`."""
        if self._peer is None:
            raise missing.error(network.WHAT, network.WHY, number=errno.ENOTCONN)
        if name and name != self._peer[0]:
            peer = (name, self._peer[1])
            fresh = Socket(self._asked)
            fresh._open(peer, peer)
            os.dup2(fresh.fileno(), self.fileno(), inheritable=False)
            self._connection, self._peer = fresh._connection, peer
            fresh.close()
        kept = self.gettimeout()
        self.settimeout(timeout)
        try:
            self.sendall(handshake.hello(name))
            head = _exactly(self, 4)
            text = _exactly(self, int.from_bytes(head[2:], "little"))
            handshake.read_reply(_Reply(head + text))
        finally:
            self.settimeout(kept)

    def recv(self, size, flags=0):
        return self._or_why(_Plain.recv, size, flags)

    def recv_into(self, buffer, size=0, flags=0):
        return self._or_why(_Plain.recv_into, buffer, size, flags)

    def send(self, data, flags=0):
        return self._or_why(_Plain.send, data, flags)

    def sendall(self, data, flags=0):
        return self._or_why(_Plain.sendall, data, flags)

    def _or_why(self, method, *args):
        """The end of a stream, or a broken one, may be a refusal; the proxy knows."""
        try:
            done = method(self, *args)
        except (BrokenPipeError, ConnectionResetError):
            self._raise_why()
            raise
        if done in (b"", 0) and self._connection is not None:
            self._raise_why()
        return done

    def _raise_why(self):
        if self._connection is not None:
            answer = _ask(_WHY_OF, self._connection)
            if answer[0]:
                raise bridge._error(answer[0], answer[1:].decode("utf-8", "replace"))

    def bind(self, address):
        if self._asked is None:
            return super().bind(address)
        raise missing.error(f"network (listening on {address!r})", network.WHY, PermissionError, errno.EACCES)

    def getpeername(self):
        if self._asked is None:
            return super().getpeername()
        if self._peer is None:
            raise missing.error(network.WHAT, network.WHY, number=errno.ENOTCONN)
        return self._peer

    def getsockname(self):
        return super().getsockname() if self._asked is None else ("127.0.0.1", 0)

    def setsockopt(self, level, option, value, *more):
        """What is asked of TCP is no business of the proxy's."""
        if self._asked is None or level == socket.SOL_SOCKET:
            super().setsockopt(level, option, value, *more)

    def getsockopt(self, level, option, *more):
        return super().getsockopt(level, option, *more) if self._asked is None or level == socket.SOL_SOCKET else 0


class _Reply:
    """A reply in the form that `handshake` reads."""

    eof = True

    def __init__(self, data):
        self._data = data

    @property
    def pending(self):
        return len(self._data)

    def read(self, size):
        part, self._data = self._data[:size], self._data[size:]
        return part
