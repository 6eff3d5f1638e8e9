"""Stands for permission bits. Files in a cell have none, and the C library says that every change of them was made: here
it is only so where a file could be changed at all."""

import operator
import os
import stat


def install():
    for known in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
        if os.chmod in known:
            known.add(chmod)
    os.chmod = chmod
    for name in ("fchmod", "lchmod"):
        if hasattr(os, name):
            setattr(os, name, globals()[name])


def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
    if isinstance(path, int):
        return fchmod(path, mode)
    _check(path, mode, dir_fd)


def lchmod(path, mode):
    _check(path, mode, None)


def fchmod(fd, mode):
    """Through an open file the same times are set again, which is refused where nothing may be changed."""
    operator.index(mode)
    found = os.fstat(fd)
    os.utime(fd, ns=(found.st_atime_ns, found.st_mtime_ns))


def _check(path, mode, dir_fd):
    operator.index(mode)
    found = os.stat(path, dir_fd=dir_fd)
    if stat.S_ISREG(found.st_mode):
        # Opening changes nothing.
        os.close(os.open(path, os.O_WRONLY, dir_fd=dir_fd))
    elif stat.S_ISDIR(found.st_mode):
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=dir_fd)
