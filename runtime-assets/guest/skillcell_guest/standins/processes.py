"""Stands for other programs and processes, of which there are none: what would start one says so.

A program that can't be started is a `FileNotFoundError`, as on a computer where it is not installed, so that a skill's
own fallback runs. Names such as `os.fork` stay absent: see `absent`.
"""

import errno
import os
import subprocess
import sys

from skillcell_guest.standins import missing

WHY = "there are no programs in a cell to start, and it is alone"


def install():
    subprocess.Popen.__init__ = _popen
    for name in ("system", "kill"):
        setattr(os, name, missing.refusing(f"os.{name}", "processes", WHY))
    for name in ("execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe"):
        setattr(os, name, missing.refusing(f"os.{name}", "processes", WHY))
    sys.meta_path.insert(0, _Afterwards())


def _popen(self, args, *more, **options):
    # `Popen.__del__` runs for this half-made object too.
    self._child_created, self.returncode, self.args = False, None, args
    raise _no_program(args)


def _no_program(args):
    program = args if isinstance(args, (str, bytes, os.PathLike)) else next(iter(args), "")
    text = missing.text("processes (`subprocess`)", WHY)
    return FileNotFoundError(errno.ENOENT, text, os.fsdecode(program))


class _Afterwards:
    """Mends modules that most skills never import, when one does."""

    def __init__(self):
        self._menders = {
            "multiprocessing": _mend_multiprocessing,
            "multiprocessing.pool": _mend_pool,
            "ctypes": _mend_ctypes,
        }

    def find_spec(self, name, path=None, target=None):
        mend = self._menders.pop(name, None)
        if mend is None:
            return None
        import importlib.util

        spec = importlib.util.find_spec(name)
        spec.loader = _Loader(spec.loader, mend)
        return spec


class _Loader:
    def __init__(self, real, mend):
        self._real, self._mend = real, mend

    def __getattr__(self, name):
        return getattr(self._real, name)

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        self._real.exec_module(module)
        self._mend(module)


def _mend_multiprocessing(module):
    import multiprocessing.context

    refuse = missing.refusing
    multiprocessing.process.BaseProcess.start = refuse("multiprocessing.Process.start", "processes", WHY)
    for name in ("Pool", "Manager", "Pipe", "Queue", "SimpleQueue", "JoinableQueue", "Lock", "Event", "Value", "Array"):
        refusal = refuse(f"multiprocessing.{name}", "processes", WHY)
        setattr(module, name, refusal)
        setattr(multiprocessing.context.BaseContext, name, refusal)


def _mend_pool(module):
    from skillcell_guest.standins import executors

    module.Pool.__init__ = missing.refusing("multiprocessing.Pool", "processes", WHY)
    del module.Pool.__del__  # it looks at what `__init__` would have made
    module.ThreadPool = executors.ThreadPool


def _mend_ctypes(module):
    """The runtime's `ctypes` has the types, which libraries name at import, and no way to call anything."""
    module._MSG = missing.text("ctypes", "native libraries can't be loaded into a cell")
