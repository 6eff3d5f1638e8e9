"""Stands for users, groups and the other facts about a process that `os` gives on Unix.

There is one user, `skill`. Its number is 0, because that is what WASI reports as the owner of every file, and code that
compares the two (pytest's `tmp_path`) must find them equal. It has no power from that. Owners can't be changed: the
functions for it do nothing.
"""

import errno
import os

NAME, HOME = "skill", "/home/skill"


def install():
    for name in ("getuid", "geteuid", "getgid", "getegid"):
        setattr(os, name, lambda: 0)
    for name in ("chown", "lchown", "fchown"):
        setattr(os, name, _keep_owner)
    os.getgroups = lambda: [0]
    os.getlogin = lambda: NAME
    os.getppid = lambda: 1
    os.umask = lambda mask: 0o022
    os.sched_getaffinity = lambda pid: {0}
    os.getloadavg = _no_load_average
    os.get_terminal_size = _no_terminal
    os.environ.setdefault("USER", NAME)


def _keep_owner(path, uid, gid, **options):
    if not isinstance(path, int):
        os.stat(path)


def _no_load_average():
    raise OSError("Load averages are unobtainable")


def _no_terminal(fd=None):
    raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
