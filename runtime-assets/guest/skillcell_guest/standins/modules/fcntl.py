"""Stands for file locks, which always succeed: a cell is alone with its files. `fcntl` and `ioctl` can't be had."""

import errno

LOCK_SH, LOCK_EX, LOCK_NB, LOCK_UN = 1, 2, 4, 8
F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, FD_CLOEXEC = 0, 1, 2, 3, 4, 1


def flock(fd, operation, /):
    pass


def lockf(fd, cmd, len=0, start=0, whence=0, /):
    pass


def fcntl(fd, cmd, arg=0, /):
    if cmd in (F_GETFD, F_SETFD, F_GETFL, F_SETFL):
        return 0
    raise _missing()


def ioctl(fd, request, arg=0, mutate_flag=True, /):
    raise _missing()


def _missing():
    from skillcell_guest.standins import missing

    return missing.error("device control (`fcntl`, `ioctl`)", "a cell has no devices", number=errno.ENOTTY)
