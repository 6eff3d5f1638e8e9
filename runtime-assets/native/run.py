"""One call in a process of its own: the other end of `tier/channel.rs`. Started by a Python of this machine with `-I -S`.

Nothing of the skill, and nothing of a package, runs before `main` is through with its preparations: site-packages are
looked at last. What the process may do was settled outside; nothing here guards anything.
"""

import os
import sys

#: Where the sandbox has the guest's modules.
OURS = os.path.dirname(os.path.abspath(__file__))
#: The length of no answer.
_NOT_ACCEPTED = 0xFFFFFFFF


def main():
    channel = _take_channel()
    settings = channel.settings()
    if settings["processes"] is not None:
        _limit(settings["processes"])
    os.environ.update(settings["env"])
    sys.modules["_host"] = channel.module()
    sys.path.insert(0, os.path.join(OURS, "guest"))
    from skillcell_guest import native

    if settings["proxy"] is not None:
        native.install(settings["proxy"])
    if not settings["modes"]:
        from skillcell_guest.standins import held_modes

        held_modes.install()
    _use_packages(settings["packages"])
    from skillcell_guest import boot

    sys.stdout = sys.__stdout__ = boot._stream(1, "<stdout>", "strict")
    sys.stderr = sys.__stderr__ = boot._stream(2, "<stderr>", "backslashreplace")
    if settings["script"] is None:
        native.run(settings["folder"], settings["package"])
    else:
        native.run_script(settings["folder"], settings["script"], settings["name"], settings["stdin"])
    # Threads of the skill, and what it registered for the end, are not waited for: the result is out.
    os._exit(0)


def _take_channel():
    """It comes as standard input, and is moved away: what the skill reads there is nothing."""
    number = os.dup(0)
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return Channel(number)


def _limit(processes):
    import resource

    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))


def _use_packages(folder):
    """As a virtual environment's own Python would; but that one may be anything, it came with the packages."""
    if folder is not None:
        import site

        sys.prefix = sys.exec_prefix = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
        site.addsitedir(folder)


class Channel:
    """Frames to the host, one at a time: u32 length, bytes; and the answer likewise."""

    def __init__(self, number):
        self._number, self._owner = number, os.getpid()
        import _thread

        self._lock = _thread.allocate_lock()

    def settings(self):
        import json

        return json.loads(self._receive())

    def call(self, frame):
        if os.getpid() != self._owner:
            raise OSError("only the process that runs the skill has the host's ear")
        with self._lock:
            self._send(len(frame).to_bytes(4, "little") + frame)
            return self._receive()

    def module(self):
        import types

        module = types.ModuleType("_host")
        module.call = self.call
        return module

    def _send(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self._number, view) :]

    def _receive(self):
        size = int.from_bytes(self._exactly(4), "little")
        if size == _NOT_ACCEPTED:
            raise OSError("the host faulted while answering the door")
        return self._exactly(size)

    def _exactly(self, size):
        parts = []
        while size:
            part = os.read(self._number, min(size, 1 << 20))
            if not part:
                os._exit(0)  # the host has ended the call
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


if __name__ == "__main__":
    main()
