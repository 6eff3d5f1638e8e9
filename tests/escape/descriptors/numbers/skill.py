"""Tries every descriptor number that a process could have."""

import os
import select
import stat

from skillware.core.base_skill import BaseSkill

NUMBERS = range(1100)


class Numbers(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        attempt = getattr(self, params["attempt"])
        wanted = attempt.__code__.co_varnames[1 : attempt.__code__.co_argcount]
        return attempt(**{name: params[name] for name in wanted if name in params})

    def kinds(self):
        """Which are open, and what they are."""
        found = {}
        for number in NUMBERS:
            try:
                mode = os.fstat(number).st_mode
            except OSError:
                continue
            found[number] = "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "stream"
        return found

    def read_all(self, open_first=None):
        """What can be read from any of them."""
        if open_first:
            os.open(open_first, os.O_RDONLY)
        return self._each(lambda number: os.read(number, 4096).decode())

    def read_all_at(self, open_first=None):
        if open_first:
            os.open(open_first, os.O_RDONLY)
        return self._each(lambda number: os.pread(number, 4096, 0).decode())

    def write_all(self, open_first=None):
        if open_first:
            os.open(open_first, os.O_RDWR)
        return self._each(lambda number: os.write(number, b"x") if number not in (1, 2) else None)

    def list_all(self, path="."):
        """As a folder to start from."""
        return self._each(lambda number: bool(os.open(path, os.O_RDONLY, dir_fd=number)))

    def wait_for_all(self):
        """Which of them anything would come of."""
        def ready(number):
            poll = select.poll()
            poll.register(number, select.POLLIN)
            return any(what & select.POLLIN and not what & select.POLLNVAL for _, what in poll.poll(0))

        return [number for number in NUMBERS if ready(number)]

    def _each(self, do):
        found = {}
        for number in NUMBERS:
            try:
                done = do(number)
            except OSError:
                continue
            if done:
                found[number] = done
        return found

    def close_all_and_open(self):
        for number in NUMBERS:
            try:
                os.close(number)
            except OSError:
                pass
        return self.open_own()

    def open_own(self):
        with open(__file__) as file:
            return bool(file.read())

    def close_output(self, number):
        os.close(number)
        os.write(number, b"after")

    def write_output(self, number):
        os.write(number, b"after")

    def close_and_reuse(self):
        """A file that gets the number of the output."""
        os.close(1)
        number = os.open("/tmp/file", os.O_RDWR | os.O_CREAT)
        print("printed", flush=True)
        return number, os.pread(number, 100, 0).decode()

    def input(self):
        return input()

    def read_input(self):
        return os.read(0, 100).decode()

    def duplicate(self, number):
        return os.dup(number)

    def duplicate_to(self, number):
        return os.dup2(number, 9)

    def reopen(self, path):
        """The honest way to a second descriptor."""
        return os.open(path, os.O_RDONLY) != os.open(path, os.O_RDONLY)

    def control(self, number):
        import fcntl

        return fcntl.ioctl(number, 0x5412, b"x")

    def lock(self, path):
        import fcntl

        with open(path) as file:
            return fcntl.flock(file, fcntl.LOCK_EX)

    def huge_read(self, length):
        with open(__file__, "rb", buffering=0) as file:
            return len(os.read(file.fileno(), length)) == os.fstat(file.fileno()).st_size

    def negative_seek(self, to):
        with open(__file__, "rb", buffering=0) as file:
            return os.lseek(file.fileno(), to, os.SEEK_SET)

    def absent(self, name):
        return getattr(os, name)

    def exhaust(self, count):
        return len([open(__file__) for _ in range(count)])

    def exhaust_folders(self, count):
        return len([os.open("/", os.O_RDONLY) for _ in range(count)])

    def flood(self, number, count):
        for _ in range(count):
            os.write(number, b"0123456789")
        return "done"
