"""Does what it is told, none of it nice."""

import os
import signal
import socket
import sys
import time

from skillware.core.base_skill import BaseSkill


class Wild(BaseSkill):
    @property
    def manifest(self):
        return {"name": "container/wild", "version": "0.1.0"}

    def execute(self, params):
        return getattr(self, params["do"])(params)

    def forks(self, params):
        """Children that outlive their parent, in sessions of their own, deaf to SIGTERM."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
                time.sleep(600)
        return "forked"

    def hangs(self, params):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
        time.sleep(600)

    def bombs(self, params):
        while True:
            try:
                os.fork()
            except OSError:
                pass

    def fills(self, params):
        with open("/tmp/full", "wb") as file:
            while True:
                file.write(b"x" * (1 << 20))

    def floods(self, params):
        while True:
            os.write(params["to"], b"x" * 65536)

    def garbage(self, params):
        """Whatever descriptors there are, it writes to them, then goes."""
        for number in range(3, 64):
            try:
                os.write(number, b"\xff\x00{]garbage")
            except OSError:
                pass
        os._exit(0)

    def leaves(self, params):
        """As an engine does that could not start it."""
        os.write(2, b"Error: the engine is broken\n")
        os._exit(params["status"])

    def writes(self, params):
        """Where it can, and how much: in MiB."""
        found = {}
        for folder, folders, _ in os.walk("/"):
            folders[:] = [name for name in folders if folder != "/" or name not in ("proc", "sys")]
            if os.access(folder, os.W_OK):
                disk = os.statvfs(folder)
                found[folder] = disk.f_blocks * disk.f_frsize >> 20
        return found

    def memory(self, params):
        return len(bytearray(1 << 30))

    def prints(self, params):
        print("to stdout")
        print("to stderr", file=sys.stderr)
        sys.stdout.flush()
        if os.fork() == 0:
            os.write(1, b"from a child\n")
            os._exit(0)
        os.wait()
        return "printed"

    def looks(self, params):
        """What there is to see."""
        def able(work):
            try:
                return work() or True
            except OSError as error:
                return type(error).__name__

        return {
            "user": os.getuid(),
            "groups": os.getgroups(),
            "processes": sorted(name for name in os.listdir("/proc") if name.isdigit()),
            "environment": sorted(os.environ),
            "home": os.environ["HOME"],
            "capabilities": [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")][0],
            "no_new_privileges": [line.split()[1] for line in open("/proc/self/status") if line.startswith("NoNewPrivs")][0],
            "interfaces": [name for _, name in socket.if_nameindex()],
            "write_root": able(lambda: open("/written", "w").close()),
            "write_skill": able(lambda: open(os.path.join(os.path.dirname(__file__), "written"), "w").close()),
            "write_scratch": able(lambda: open("/tmp/written", "w").close()),
            "host_file": os.path.exists(params["host_file"]),
            "connect": able(lambda: socket.create_connection(("127.0.0.1", params["port"]), 2).close()),
        }

    def fetches(self, params):
        import requests

        answer = requests.get(params["url"], timeout=5)
        return {"status": answer.status_code, "text": answer.text}

    def files(self, params):
        with open(params["read"]) as file:
            text = file.read()
        with open(params["write"], "w") as file:
            file.write(text.upper())
        return text

    def says(self, params):
        return os.environ.get(params["name"])

    def floods_with_files(self, params):
        """Takes no bytes, but memory of the kernel's."""
        for number in range(10_000_000):
            os.mknod(f"{params['folder']}/{number}")

    def leaves_traps(self, params):
        """In a folder that was granted: links for others to follow, and files that run as their owner."""
        folder = params["folder"]
        with open(f"{folder}/plain", "w"):
            pass
        tries = {
            "symbolic": lambda: os.symlink("/etc/shadow", f"{folder}/symbolic"),
            "hard": lambda: os.link(f"{folder}/plain", f"{folder}/hard"),
            "set_user": lambda: os.chmod(f"{folder}/plain", 0o4755),
            "set_group": lambda: os.close(os.open(f"{folder}/group", os.O_CREAT | os.O_WRONLY, 0o2755)),
            "plain_mode": lambda: os.chmod(f"{folder}/plain", 0o755),
        }
        return {name: _outcome(tried) for name, tried in tries.items()}

    def makes_namespaces(self, params):
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        kinds = {"user": 0x10000000, "net": 0x40000000, "mount": 0x00020000, "none": 0}
        return {name: self._cloned(ctypes, libc, flag) for name, flag in kinds.items()}

    def _cloned(self, ctypes, libc, flag):
        pid = libc.syscall(56 if os.uname().machine == "x86_64" else 220, flag | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        return os.strerror(ctypes.get_errno()) if pid < 0 else os.waitpid(pid, 0)[1]

    def exits(self, params):
        os._exit(params["status"])


def _outcome(tried):
    try:
        tried()
    except OSError as error:
        return type(error).__name__
    return "done"
