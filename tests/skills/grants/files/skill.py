"""Does one thing after another to files below /data and tells what came of each."""

import errno
import os

from skillware.core.base_skill import BaseSkill


def _write(path, text="new"):
    with open(path, "w") as file:
        file.write(text)


def _read(path):
    with open(path) as file:
        return file.read()


def _truncate_open():
    with open("/data/a.txt", "r+") as file:
        file.truncate(1)


def _fchmod():
    with open("/data/a.txt") as file:
        os.chmod(file.fileno(), 0o777)


DOINGS = {
    "list": lambda: sorted(os.listdir("/data")),
    "read": lambda: _read("/data/a.txt"),
    "read_below": lambda: _read("/data/sub/b.txt"),
    "create": lambda: _write("/data/new.txt"),
    "overwrite": lambda: _write("/data/w.txt"),
    "append": lambda: open("/data/w.txt", "a").write("more"),
    "truncate": lambda: os.truncate("/data/w.txt", 0),
    "truncate_open": _truncate_open,
    "rename": lambda: os.rename("/data/r.txt", "/data/renamed.txt"),
    "rename_in": lambda: (_write("/tmp/t"), os.rename("/tmp/t", "/data/t"))[1],
    "unlink": lambda: os.unlink("/data/u.txt"),
    "mkdir": lambda: os.mkdir("/data/made"),
    "rmdir": lambda: os.rmdir("/data/empty"),
    "utime": lambda: os.utime("/data/a.txt", (1, 1)),
    "symlink": lambda: os.symlink("a.txt", "/data/link"),
    "hardlink": lambda: os.link("/data/a.txt", "/data/hard"),
    "chmod": lambda: os.chmod("/data/a.txt", 0o777),
    "chmod_folder": lambda: os.chmod("/data/sub", 0o777),
    "chmod_missing": lambda: os.chmod("/data/nothing", 0o777),
    "fchmod": _fchmod,
    "utime_folder": lambda: os.utime("/data/sub", (1, 1)),
    "read_out": lambda: _read("/data/out"),
    "read_out_folder": lambda: _read("/data/outdir/secret.txt"),
    "dots": lambda: _read("/data/../data/sub/../../etc/passwd"),
    "passwd": lambda: _read("/etc/passwd"),
    "fifo": lambda: _read("/data/pipe"),
    "inside_link": lambda: _read("/data/inside"),
}


class FilesSkill(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return {name: self._do(DOINGS[name]) for name in params["do"]}

    def _do(self, doing):
        try:
            done = doing()
            return "done" if done is None or isinstance(done, int) else done
        except OSError as error:
            return errno.errorcode.get(error.errno, str(error.errno))
