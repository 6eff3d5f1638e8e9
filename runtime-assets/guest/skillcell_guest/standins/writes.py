"""Says where a cell can write, when something writes to a relative path in the folder where it starts, `/`.

Elsewhere the words are those of any read-only file system. What this cannot do: code in C that opens files by itself, as
SQLite does, keeps its own words.
"""

import builtins
import errno
import functools
import io
import os

from skillcell_guest.standins import missing

_WHERE = "use `/tmp`: the working folder `/` is read-only"


def install():
    io.open = builtins.open = _explaining(io.open)
    for name in ("open", "mkdir", "rename", "replace"):
        real = getattr(os, name)
        stand_in = _explaining(real)
        for known in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks):
            if real in known:
                known.add(stand_in)
        setattr(os, name, stand_in)


def _explaining(real):
    @functools.wraps(real)
    def stand_in(*args, **kwargs):
        try:
            return real(*args, **kwargs)
        except OSError as error:
            by_descriptor = any(kwargs.get(name) is not None for name in ("dir_fd", "src_dir_fd", "dst_dir_fd"))
            if error.errno == errno.EROFS and not by_descriptor and _is_relative_to_root(error):
                raise _explained(error).with_traceback(error.__traceback__) from None
            raise

    return stand_in


def _is_relative_to_root(error):
    where = error.filename if error.filename2 is None else error.filename2
    return isinstance(where, str) and not where.startswith("/") and os.getcwd() == "/"


def _explained(error):
    """The same exception, with its paths, in other words."""
    paths = (error.filename,) if error.filename2 is None else (error.filename, None, error.filename2)
    return OSError(error.errno, missing.text("writing to a relative path", _WHERE), *paths)
