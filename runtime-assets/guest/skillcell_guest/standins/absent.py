"""Names of the standard library that a cell lacks. They stay absent, since portable code looks for them before use, and an
`AttributeError` says why. Functions that are there and could only fail say so in the same words."""

import errno
import hashlib
import importlib.machinery
import os
import select
import shutil
import signal
import socket
import sys
import time

from skillcell_guest.standins import missing
from skillcell_guest.standins.processes import WHY as _ALONE

_OF_OS = {
    ("processes", _ALONE): """
        fork forkpty posix_spawn posix_spawnp spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe wait wait3 wait4
        waitid waitpid waitstatus_to_exitcode killpg pipe pipe2 setsid getsid getpgid setpgid getpgrp setpgrp nice getpriority
        setpriority pidfd_open register_at_fork sched_setaffinity sched_getscheduler sched_setscheduler sched_getparam
        sched_setparam unshare setns WEXITSTATUS WIFEXITED WIFSIGNALED WIFSTOPPED WTERMSIG WSTOPSIG WCOREDUMP WIFCONTINUED""",
    ("users", "there is one, without power"): """
        setuid setgid seteuid setegid setreuid setregid setresuid setresgid getresuid getresgid setgroups initgroups
        getgrouplist chroot""",
    ("terminals", "a cell has none"): "openpty login_tty ttyname ctermid tcgetpgrp tcsetpgrp posix_openpt grantpt unlockpt ptsname",
    ("special files", "a cell has files and folders only"): "mkfifo mknod major minor makedev memfd_create",
    ("extended attributes", "files in a cell have none"): "getxattr setxattr listxattr removexattr",
    ("this way to copy or lock", "there is `shutil`, and a cell is alone with its files"): """
        sendfile splice copy_file_range posix_fallocate lockf preadv pwritev readv writev""",
    ("file systems' sizes", "the call's limits bound what a cell may write"): "statvfs fstatvfs sync",
    ("event descriptors", "a cell has one thread and nobody to wake it"): """
        eventfd eventfd_read eventfd_write timerfd_create timerfd_settime timerfd_gettime""",
    ("folders by descriptor", "use their paths"): "fchdir fwalk",
    ("this source of randomness", "use `os.urandom`"): "getrandom",
}  # fmt: skip
_SIGNALS = ("signals", "nobody could send one")
_NETWORK = ("this part of the network", "a cell has HTTP, through the host, and nothing else")
_CLOCK = ("setting clocks and time zones", "a cell's zone is UTC, and `zoneinfo` has the others")
_OF_OTHERS = (
    (time, _CLOCK, "tzset clock_settime clock_settime_ns"),
    (signal, _SIGNALS, "pthread_kill pthread_sigmask sigpending sigtimedwait sigwait sigwaitinfo pidfd_send_signal valid_signals"),
    (socket, _NETWORK, "AF_UNIX AF_NETLINK AF_PACKET CMSG_LEN CMSG_SPACE if_indextoname if_nameindex if_nametoindex sethostname"),
    (select, _NETWORK, "epoll kqueue devpoll"),
    (hashlib, ("a slow hash", "without OpenSSL it would take minutes, and `pbkdf2_hmac` is there"), "scrypt"),
    (shutil, ("file systems' sizes", "the call's limits bound what a cell may write"), "disk_usage"),
)


def install():
    names = {}
    for reason, text in _OF_OS.items():
        names.update(dict.fromkeys(text.split(), reason))
    _explain(os, names)
    for module, reason, text in _OF_OTHERS:
        _explain(module, dict.fromkeys(text.split(), reason))
    time.thread_time, time.thread_time_ns = time.process_time, time.process_time_ns
    for name in ("link", "symlink"):
        setattr(os, name, missing.refusing(f"os.{name}", "links", "files in a cell have one name"))
    for name in ("dup", "dup2"):
        setattr(os, name, missing.refusing(f"os.{name}", "second descriptors of a file", "open it again by its path"))
    signal.raise_signal = _raise_signal
    sys.meta_path.insert(0, _MmapFinder)


def _explain(module, names):
    """`names` to what is missing and why."""
    names = {name: reason for name, reason in names.items() if name not in module.__dict__}

    def absent(name):
        text = f"module {module.__name__!r} has no attribute {name!r}"
        if name in names:
            text = missing.text(f"`{module.__name__}.{name}`, {names[name][0]}", names[name][1])
        raise AttributeError(text, name=name, obj=module)

    module.__getattr__ = absent


def _raise_signal(number, /):
    """To oneself: a handler that was set is called; the default would be the end of the interpreter."""
    handler = signal.getsignal(number)
    if callable(handler):
        handler(number, sys._getframe(1))
    elif handler is not signal.SIG_IGN:
        raise missing.error("signals (`signal.raise_signal`)", "no handler is set for this one, and it would end the cell")


class _MmapFinder:
    """Finds `mmap` as ever, with a class that says that it can't be."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "mmap":
            return None
        sys.meta_path.remove(_MmapFinder)
        for finder in (importlib.machinery.BuiltinImporter, importlib.machinery.PathFinder):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return importlib.machinery.ModuleSpec(name, _MmapLoader(spec.loader, spec), origin=spec.origin)
        return None


class _MmapLoader:
    def __init__(self, plain, spec):
        self._plain, self._spec = plain, spec

    def create_module(self, spec):
        return self._plain.create_module(self._spec)

    def exec_module(self, module):
        self._plain.exec_module(module)
        module.mmap = _Mmap


class _Mmap:
    def __new__(cls, *args, **kwargs):
        raise missing.error("memory mapping (`mmap.mmap`)", "read the file instead", number=errno.ENOTSUP)


_Mmap.__name__ = _Mmap.__qualname__ = "mmap"
_Mmap.__module__ = "mmap"
