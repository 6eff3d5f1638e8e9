"""Stands for changing modes and times of files where the sandbox refuses both, whatever the file is: Landlock alone can't
tell which. As in a cell, a change that makes no difference to anybody is taken for made: of a file that may be written.
"""

import errno
import functools
import os
import stat

_SET_ID = stat.S_ISUID | stat.S_ISGID


def install():
    for name in ("chmod", "fchmod", "utime"):
        real = getattr(os, name)
        stand_in = _standing_for(real, name != "utime")
        for known in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if real in known:
                known.add(stand_in)
        setattr(os, name, stand_in)


def _standing_for(real, has_mode):
    @functools.wraps(real)
    def stand_in(path, *args, **keywords):
        try:
            real(path, *args, **keywords)
        except PermissionError as error:
            mode = (args[0] if args else keywords.get("mode", 0)) if has_mode else 0
            if error.errno != errno.EPERM or mode & _SET_ID or not _is_writable(path, keywords.get("dir_fd")):
                raise

    return stand_in


def _is_writable(path, dir_fd):
    if isinstance(path, int):
        import fcntl

        return stat.S_ISDIR(os.fstat(path).st_mode) or fcntl.fcntl(path, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    # What is not there is told of in its own words.
    found = os.stat(path, dir_fd=dir_fd)
    if stat.S_ISDIR(found.st_mode):
        return True
    try:
        # Opening changes nothing.
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK, dir_fd=dir_fd))
    except OSError:
        return False
    return True
