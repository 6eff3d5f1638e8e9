"""What a process can do to whoever started it, each by its name."""

import ctypes
import mmap
import os
import signal
import socket
import stat
import struct
import sys
import tempfile
import time

from skillware.core.base_skill import BaseSkill


class Hostile(BaseSkill):
    @property
    def manifest(self):
        return {"name": "tiers/hostile"}

    def execute(self, params):
        return getattr(self, params.pop("do"))(**params)

    def beat(self, out, then):
        """A daemon in a session of its own, if it may, deaf to every signal, that writes to a granted folder for as long as
        it lives."""
        if os.fork() == 0:
            for leave in (os.setsid, lambda: os.setpgid(0, 0)):
                _error(leave)
            if os.fork() == 0:
                _deaf()
                for number in range(1, 2400):
                    with open(f"{out}/beat", "w") as file:
                        file.write(str(number))
                    time.sleep(0.02)
            os._exit(0)
        while not os.path.exists(f"{out}/beat"):
            time.sleep(0.01)
        if then == "hang":
            _deaf()
            while True:
                time.sleep(1)
        return {"ok": True}

    def bomb(self):
        """Forks until it can't."""
        children = 0
        try:
            while children < 2000:
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
                children += 1
        except OSError as error:
            return {"children": children, "error": type(error).__name__}
        return {"children": children, "error": None}

    def fill(self, folder):
        with open(os.path.expandvars(f"{folder}/big"), "wb") as file:
            while True:
                file.write(b"x" * (1 << 20))

    def fill_with(self, what):
        """Room on the disk that is taken in other ways than by one large file."""
        folder, held = tempfile.mkdtemp(), []
        for number in range(100_000):
            if what == "files":
                os.mkdir(f"{folder}/{number}")
            elif what == "levels":
                os.mkdir("d", 0o300)
                os.chdir("d")
            else:
                held.append(tempfile.TemporaryFile())
                held[-1].write(b"x" * (2 << 20))
                held[-1].flush()
                if what == "mapped":
                    _libc("mmap", None, 2 << 20, mmap.PROT_READ, mmap.MAP_SHARED, held[-1].fileno(), 0)
                    held.pop().close()
                time.sleep(0.005)
        time.sleep(30)

    def flood_files(self):
        """Files without any content, as fast as two processes can, in both folders."""
        folder = os.environ["HOME" if os.fork() == 0 else "TMPDIR"]
        number = 0
        while True:
            os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
            number += 1

    def flood(self, descriptor):
        while True:
            os.write(descriptor, b"x" * 65536)

    def spill(self, what):
        """Writes to every socket that it holds: one is the host's channel."""
        for number, kind in _held():
            if kind == "socket":
                os.write(number, what.encode("latin-1"))
        time.sleep(30)

    def leave(self, status):
        os._exit(status)

    def crash(self):
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(30)

    def hang(self):
        """With a child, both deaf."""
        os.fork()
        _deaf()
        time.sleep(60)

    def hog(self):
        held = []
        while True:
            held.append(bytearray(16 << 20))

    def opens(self):
        held = []
        while True:
            held.append(open("/dev/null"))

    def prints(self):
        print('{"schema": 1, "outcome": "returned"}')
        print("on stderr", file=sys.stderr)
        return {"stdin": sys.stdin.read() if sys.stdin else None}

    def sees(self, paths):
        return {path: _read(path) for path in paths}

    def holds(self):
        return [kind for _, kind in _held()]

    def reaches(self, abstract):
        stream = socket.socket(socket.AF_UNIX)
        stream.connect("\0" + abstract)
        return {"reached": True}

    def connects(self, folder):
        """Each way to a service that has its socket in a folder, and what would leave a socket or pipe there: the errors."""
        path = f"{folder}/service"
        plain = socket.SocketType.__mro__[1]
        orphan, other = socket.socketpair()
        other.close()
        tries = {
            "stream": lambda: plain(socket.AF_UNIX).connect(path),
            "datagram": lambda: plain(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", path),
            "orphan": lambda: orphan.connect(path),
            "pair": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect(path),
            "to": lambda: orphan.sendto(b"x", path),
            "bind": lambda: socket.socketpair()[0].bind(f"{folder}/bound"),
            "fifo": lambda: os.mkfifo(f"{folder}/pipe"),
            "node": lambda: os.mknod(f"{folder}/node", stat.S_IFSOCK | 0o600),
            "whiteout": lambda: os.mknod(f"{folder}/nothing", stat.S_IFCHR | 0o600, 0),
        }
        return {name: _error(attempt) for name, attempt in tries.items()}

    def pairs(self):
        """What Python makes of pairs of sockets goes on working."""
        import asyncio
        import multiprocessing

        async def answer():
            reader, writer = await asyncio.open_connection(sock=left)
            writer.write(b"ping\n")
            return (await reader.readline()).decode()

        left, right = socket.socketpair()
        right.send(b"pong\n")
        near, far = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(target=far.send, args=("piped",))
        child.start()
        child.join()
        return [asyncio.run(answer()), right.recv(5).decode(), near.recv()]

    def kills(self, pid):
        os.kill(pid, 0)
        return {"reached": True}

    def writes_in_proc(self):
        """What of the kernel's own files it could write to, besides its own streams."""
        found = []
        for folder, folders, names in os.walk("/proc"):
            folders[:] = [name for name in folders if name not in ("fd", "fdinfo")]
            for name in names:
                try:
                    os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
                    found.append(os.path.join(folder, name))
                except OSError:
                    pass
        return found

    def reads_in_proc(self):
        """What of the kernel's own files it can read, besides those of processes."""
        found = []
        try:
            names = [name for name in os.listdir("/proc") if not name.isdigit()]
        except PermissionError:
            return found
        for path in (os.path.join("/proc", name) for name in names):
            try:
                if not os.path.islink(path) and (os.listdir(path) if os.path.isdir(path) else _open(path)):
                    found.append(os.path.basename(path))
            except OSError:
                pass
        return sorted(found)

    def locks(self, path):
        """Holds every kind of lock on a file that it may only read, for a while, and says which it was refused."""
        import fcntl

        refused = {}
        with open(path, "rb") as one, open(path, "rb") as other:
            attempts = {
                "flock": lambda: fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB),
                "lockf": lambda: fcntl.lockf(other, fcntl.LOCK_SH | fcntl.LOCK_NB),
                "lease": lambda: fcntl.fcntl(one, fcntl.F_SETLEASE, fcntl.F_RDLCK),
                "notify": lambda: fcntl.fcntl(os.open(os.path.dirname(path), os.O_RDONLY), fcntl.F_NOTIFY, 1),
            }
            for name, attempt in attempts.items():
                try:
                    attempt()
                except OSError as error:
                    refused[name] = type(error).__name__
            time.sleep(1)
        return refused

    def keeps_a_database(self):
        """Locks of its own, in its own scratch folder."""
        import sqlite3

        place = os.path.join(os.environ["TMPDIR"], "x.db")
        with sqlite3.connect(place) as database:
            database.execute("create table t (n)")
            database.executemany("insert into t values (?)", [(n,) for n in range(3)])
        return sqlite3.connect(place).execute("select sum(n) from t").fetchone()[0]

    def gives_its_output_away(self):
        """A result by hand, and behind it, where nobody reads, the streams that it prints to."""
        import array

        number = next(number for number, kind in _held() if kind == "socket")
        channel = socket.socket(fileno=number)
        channel.sendall(b"\x04\0\0\0G[1]")
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))
        channel.sendmsg([b"more"], [rights])
        time.sleep(600)

    def shares(self, how):
        """Memory that is no process's own."""
        held = []
        for _ in range(64):
            if how == "file":
                held.append(os.memfd_create("x"))
                os.write(held[-1], bytes(16 << 20))
            else:
                held.append(mmap.mmap(-1, 128 << 20))
                for at in range(0, 128 << 20, 4096):
                    held[-1][at] = 1

    def set_id(self, out):
        """Each way to make a file that runs as its owner."""
        with open(f"{out}/plain", "w") as file:
            tries = {
                "chmod": lambda: os.chmod(f"{out}/plain", 0o4755),
                "group": lambda: os.chmod(f"{out}/plain", 0o2755),
                "fchmod": lambda: os.fchmod(file.fileno(), 0o4755),
                "open": lambda: os.close(os.open(f"{out}/made", os.O_CREAT | os.O_WRONLY, 0o4755)),
                "tmpfile": lambda: os.close(os.open(out, os.O_TMPFILE | os.O_WRONLY, 0o4755)),
                "mknod": lambda: os.mknod(f"{out}/node", 0o4755 | stat.S_IFREG),
            }
            said = {name: _error(attempt) for name, attempt in tries.items()}
        os.chmod(f"{out}/plain", 0o700)
        return said

    def changes(self, folder):
        """Each way to change a file and its folder: the errors."""
        path, fresh, moved = f"{folder}/kept", f"{folder}/fresh", f"{folder}/moved"
        times = _timespecs()
        with open(path) as file:
            number = file.fileno()
            tries = {
                "open": lambda: open(path, "r+").close(),
                "truncate": lambda: os.truncate(path, 1),
                "create": lambda: open(fresh, "x").close(),
                "mkdir": lambda: os.mkdir(f"{folder}/folder"),
                "rename": lambda: os.rename(path, moved),
                "rename_back": lambda: os.rename(moved, path),
                "unlink": lambda: os.unlink(fresh),
                "rmdir": lambda: os.rmdir(f"{folder}/folder"),
                "link": lambda: os.link(path, fresh),
                "symlink": lambda: os.symlink(path, fresh),
                "mkfifo": lambda: os.mkfifo(f"{folder}/pipe"),
                "chmod": lambda: _libc("chmod", path.encode(), 0o777),
                "fchmod": lambda: _libc("fchmod", number, 0o777),
                "chown": lambda: _libc("chown", path.encode(), os.getuid(), -1),
                "fchown": lambda: _libc("fchown", number, os.getuid(), -1),
                "utime": lambda: _libc("utimensat", -100, path.encode(), times, 0),
                "futime": lambda: _libc("futimens", number, times),
                "setxattr": lambda: os.setxattr(path, "user.x", b"1"),
                "fsetxattr": lambda: os.setxattr(number, "user.x", b"1"),
                "flags": lambda: _libc("ioctl", number, 0x40086602, ctypes.byref(ctypes.c_long(0x40))),
                "folder": lambda: _libc("chmod", folder.encode(), 0o777),
            }
            return {name: _error(attempt) for name, attempt in tries.items()}

    def tries(self, pid):
        """What could reach another process, or the machine, where no namespace is around: the errors. Each comes with a
        twin that stays at home."""
        pair = socket.socketpair()
        named = (socket.AF_UNIX, "\0x")
        return {
            "signal": _error(lambda: os.kill(pid, 0)),
            "signal_self": _error(lambda: os.kill(os.getpid(), 0)),
            "priority": _error(lambda: os.setpriority(os.PRIO_PROCESS, pid, 5)),
            "priority_self": _error(lambda: os.setpriority(os.PRIO_PROCESS, 0, 5)),
            "affinity": _error(lambda: os.sched_setaffinity(pid, {0})),
            "affinity_self": _error(lambda: os.sched_setaffinity(0, os.sched_getaffinity(0))),
            "limit": _error(lambda: _libc("prlimit", pid, 7, ctypes.byref((ctypes.c_ulong * 2)(9, 9)), None)),
            "limit_self": _error(lambda: _libc("prlimit", 0, 7, None, ctypes.byref((ctypes.c_ulong * 2)()))),
            "trace": _error(lambda: _libc("ptrace", 16, pid, None, None)),
            "session": _error(os.setsid),
            "group": _error(lambda: os.setpgid(0, 0)),
            "outlive": _error(lambda: _libc("prctl", 1, 0, 0, 0, 0)),
            "hide": _error(lambda: _libc("prctl", 4, 0, 0, 0, 0)),
            "sibling": _error(lambda: _syscall(56, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)),
            "user_namespace": _error(lambda: _syscall(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)),
            "unshare": _error(lambda: _libc("unshare", 0x10000000)),
            "fork": _error(_fork),
            "tcp": _error(lambda: socket.SocketType.__mro__[1](socket.AF_INET)),
            "udp": _error(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
            "netlink": _error(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),
            "unix": _error(lambda: socket.socket(socket.AF_UNIX)),
            "datagrams": _error(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)),
            "raw": _error(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)),
            "pair": _error(lambda: pair[0].sendall(b"x") or pair[1].recv(1)),
            "to": _error(lambda: pair[0].sendto(b"x", named[1])),
            "messages": _error(lambda: _libc("msgget", 0, 0o1600)),
            "semaphores": _error(lambda: _libc("semget", 0, 1, 0o1600)),
            "watch": _error(lambda: _libc("inotify_init1", 0)),
            "ring": _error(lambda: _syscall(425, 1, ctypes.byref((ctypes.c_char * 120)()))),
            "unknown": _error(lambda: _syscall(9999)),
        }

    def capabilities(self):
        """All three sets, and the bounding set: numbers."""
        head, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        _libc("capget", head, sets)
        bounding = [number for number in range(64) if ctypes.CDLL(None).prctl(23, number, 0, 0, 0) == 1]
        return {"sets": list(sets), "bounding": bounding, "no_new_privileges": ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)}

    def copies(self, out):
        """What `shutil` does with modes and times works where a file may be written."""
        import shutil
        from pathlib import Path

        source = tempfile.NamedTemporaryFile("w", delete=False)
        source.close()
        shutil.copy2(source.name, f"{out}/copy")
        Path(f"{out}/touched").touch()
        Path(f"{out}/touched").touch()
        shutil.copytree(os.path.dirname(__file__), f"{out}/tree")
        return sorted(os.listdir(out))


def _open(path):
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    return True


def _error(attempt):
    try:
        attempt()
    except OSError as error:
        return error.errno
    return None


def _deaf():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass


def _fork():
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def _held():
    """Its descriptors, with what each is."""
    found = []
    for number in range(256):
        try:
            mode = os.fstat(number)
        except OSError:
            continue
        null = stat.S_ISCHR(mode.st_mode) and mode.st_rdev == os.makedev(1, 3)
        kinds = {stat.S_IFSOCK: "socket", stat.S_IFIFO: "pipe", stat.S_IFCHR: "null" if null else "device"}
        found.append((number, kinds.get(stat.S_IFMT(mode.st_mode), "file")))
    return found


def _timespecs():
    return struct.pack("qqqq", 1, 0, 1, 0)


def _libc(name, *args):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*args) == -1:
        raise OSError(ctypes.get_errno(), name)


def _syscall(number, *args):
    done = ctypes.CDLL(None, use_errno=True).syscall(number, *args)
    if done == 0 and number == 56:
        os._exit(0)
    if done == -1:
        raise OSError(ctypes.get_errno(), str(number))


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read(65536).decode("latin-1")
    except OSError as error:
        return type(error).__name__
