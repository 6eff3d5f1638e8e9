"""One call in a container: the contract of docs/reference/container-contract.md, for skills that are plain Python.

One JSON object comes on standard input, one goes out on standard output. Both are moved away before anything of the skill
runs: what it prints is collected and goes out with the answer, and what it reads is nothing.
"""

import json
import os
import sys

OURS = os.path.dirname(os.path.abspath(__file__))


def main():
    request, answer = _take_pipes()
    os.environ.update(request["env"])
    os.chdir("/tmp")
    host = Host(request, answer)
    sys.modules["_host"] = host.module()
    sys.path.insert(0, os.path.join(OURS, "guest"))
    from skillcell_guest import connections, native

    native.install(request["http"])
    connections.install()
    _use_packages("/opt/packages")
    sys.path.append("/")
    from skillcell_guest import boot

    sys.stdout = sys.__stdout__ = boot._stream(1, "<stdout>", "strict")
    sys.stderr = sys.__stderr__ = boot._stream(2, "<stderr>", "backslashreplace")
    native.run(request["skill"]["folder"], request["skill"]["package"])
    # Threads of the skill, and what it registered for the end, are not waited for: the answer is out.
    os._exit(0)


def _take_pipes():
    with os.fdopen(os.dup(0), "rb") as pipe:
        request = json.loads(pipe.read())
    answer = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return request, answer


def _use_packages(folder):
    if os.path.isdir(folder):
        import site

        site.addsitedir(folder)


class Collected:
    """What is written to file descriptor 1, by whatever in this process, up to a cap; beyond it the call ends."""

    def __init__(self, cap, overflow):
        import threading

        self._bytes, self._cap, self._overflow = bytearray(), cap, overflow
        self._source, sink = os.pipe()
        os.dup2(sink, 1)
        os.close(sink)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while part := os.read(self._source, 1 << 16):
            self._bytes += part[: self._cap - len(self._bytes) + 1]
            if len(self._bytes) > self._cap:
                del self._bytes[self._cap :]
                return self._overflow()

    def text(self):
        """All of it. A process that the skill left behind may hold the pipe open; nobody waits for that one."""
        import threading

        if threading.current_thread() is not self._reader:
            os.close(1)
            self._reader.join(0.2)
        return bytes(self._bytes).decode("utf-8", "backslashreplace")


class Host:
    """What `_host` is in a cell: takes frames, and answers the ones that a call needs."""

    def __init__(self, request, answer):
        self._request, self._answer, self._owner = request, answer, os.getpid()
        self._said = Collected(request["limits"]["stdout_bytes"], self._overflow)

    def _overflow(self):
        self._finish(b"exceeded", b'"stdout_bytes"')

    def module(self):
        import types

        module = types.ModuleType("_host")
        module.call = self.call
        return module

    def call(self, frame):
        kind, payload = frame[:1], frame[1:]
        if kind == b"T":
            return self._params()
        if kind in b"GF" and os.getpid() == self._owner:
            self._finish(b"returned" if kind == b"G" else b"raised", payload)
        return b""

    def _params(self):
        params = json.dumps(self._request["params"]).encode()
        extra = {name: self._request[name] for name in ("config", "env", "secrets", "validate", "deny_imports")}
        return len(params).to_bytes(4, "little") + params + json.dumps(extra).encode()

    def _finish(self, name, payload):
        text = json.dumps(self._said.text()).encode()
        data = b'{"skillcell":1,"%s":%s,"stdout":%s,"memory_bytes":%d}' % (name, payload, text, _memory())
        view = memoryview(data)
        while view:
            view = view[os.write(self._answer, view) :]
        os._exit(0)


def _memory():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
