"""Stands for `threading.Lock`, and through it for conditions, events, semaphores, barriers and queues.

The runtime's own lock ends the interpreter when it has to wait. This one lets threads that were started run first
(`threads`), then sleeps if there is a timeout, and raises `Deadlock` if there is none: nobody is left to release it.
"""

import _thread
import queue
import threading

from skillcell_guest.standins import missing, threads


class Deadlock(RuntimeError):
    """A wait that could never end."""

    def __init__(self, what):
        super().__init__(missing.text("threads that run at the same time", f"waiting for {what} would never end"))


class Lock:
    __slots__ = ("_held", "__weakref__")

    def __init__(self):
        self._held = False

    def acquire(self, blocking=True, timeout=-1):
        if self._held and not self._wait(blocking, timeout):
            return False
        self._held = True
        return True

    def _wait(self, blocking, timeout):
        """Whether it came free."""
        if not blocking:
            if timeout != -1:
                raise ValueError("can't specify a timeout for a non-blocking call")
            return False
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        if threads.run_started(until=lambda: not self._held):
            return True
        threads.leave_background()
        if timeout == -1:
            raise Deadlock("this lock, event or queue")
        threads.sleep(timeout)
        return not self._held

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self):
        return self._held

    acquire_lock, release_lock, locked_lock = acquire, release, locked

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()

    def _at_fork_reinit(self):
        self._held = False

    def __repr__(self):
        return f"<{'locked' if self._held else 'unlocked'} skillcell lock at {id(self):#x}>"


def install():
    _thread.allocate_lock = _thread.allocate = _thread.lock = _thread.LockType = Lock
    threading.Lock = threading._allocate_lock = Lock
    # The runtime's queue in C waits with the runtime's own lock.
    queue.SimpleQueue = queue._PySimpleQueue
