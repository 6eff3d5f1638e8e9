"""Everything of the standard library that a cell lacks, and what is said of it."""

import hashlib
import mmap
import os
import pathlib
import select
import shutil
import signal
import socket
import tempfile
import time
import zipfile

from skillware.core.base_skill import BaseSkill

#: Names that the standard library has on Linux, and no cell.
ABSENT = {
    os: """fork forkpty posix_spawn spawnv wait waitpid waitstatus_to_exitcode killpg pipe setsid getpgid nice getpriority setpriority
        pidfd_open sched_setaffinity unshare setuid setgid getresuid setgroups initgroups chroot openpty login_tty ttyname
        ctermid tcgetpgrp mkfifo mknod major memfd_create getxattr setxattr listxattr sendfile splice copy_file_range
        posix_fallocate lockf preadv pwritev statvfs fstatvfs sync eventfd timerfd_create fchdir fwalk getrandom""",
    time: "tzset clock_settime",
    signal: "pthread_kill pthread_sigmask sigpending sigtimedwait sigwait sigwaitinfo",
    socket: "AF_UNIX CMSG_LEN if_nameindex sethostname",
    select: "epoll",
    hashlib: "scrypt",
    shutil: "disk_usage",
}
#: Modules that are not there at all.
MODULES = "resource termios pty tty dbm.gnu readline curses tkinter syslog multiprocessing.shared_memory venv ensurepip compression.zstd".split()


class Lacking(BaseSkill):
    manifest = {}

    def execute(self, params):
        pathlib.Path("/tmp/file").write_text("x")
        ways = {
            "mmap": lambda: mmap.mmap(-1, 10),
            "link": lambda: os.link("/tmp/file", "/tmp/other"),
            "symlink": lambda: os.symlink("/tmp/file", "/tmp/other"),
            "symlink_to": lambda: pathlib.Path("/tmp/other").symlink_to("/tmp/file"),
            "dup": lambda: os.dup(1),
            "dup2": lambda: os.dup2(1, 9),
            "raise_signal": lambda: signal.raise_signal(signal.SIGTERM),
            "alarm": lambda: signal.alarm(1),
        }
        writes = {
            "open": lambda: open("out.txt", "w"),
            "Path.write_text": lambda: pathlib.Path("out.txt").write_text("x"),
            "mkdir": lambda: os.mkdir("out"),
            "makedirs": lambda: os.makedirs("out/deeper"),
            "os.open": lambda: os.open("out", os.O_CREAT | os.O_WRONLY),
            "rename": lambda: os.rename("/tmp/file", "out"),
            "copy": lambda: shutil.copy("/tmp/file", "out"),
            "mkdtemp": lambda: tempfile.mkdtemp(dir="."),
            "ZipFile": lambda: zipfile.ZipFile("out.zip", "w"),
        }
        absent = {f"{m.__name__}.{n}": (lambda m=m, n=n: getattr(m, n)) for m, names in ABSENT.items() for n in names.split()}
        handled = []
        signal.signal(signal.SIGUSR1, lambda number, frame: handled.append(number == signal.SIGUSR1))
        signal.raise_signal(signal.SIGUSR1)
        return {
            "ways": {name: said(way) for name, way in ways.items()},
            "writes": {name: said(way) for name, way in writes.items()},
            "absent": {name: said(way) for name, way in absent.items()},
            "modules": {name: said(lambda: __import__(name)) for name in MODULES},
            "own file": said(lambda: open(__file__, "a")),
            "works": [hasattr(os, "fork"), time.thread_time() >= 0, handled, write_where_it_can_be()],
        }


def write_where_it_can_be():
    os.chdir("/tmp")
    with open("relative", "w") as file:
        file.write("x")
    os.rename("relative", "renamed")
    return os.path.exists("/tmp/renamed")


def said(way):
    try:
        way()
    except BaseException as error:
        return [type(error).__name__, str(error), getattr(error, "errno", None)]
    return ["", "nothing was raised", None]
