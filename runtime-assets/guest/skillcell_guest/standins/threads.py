"""Stands for threads: what one would run beside its starter runs when the starter waits.

`start` only notes the thread. It runs, whole, as soon as anything waits: `join`, a lock, an event, a queue, `sleep`, an
event loop with nothing to do. By then a starter has usually handed over what the thread works on. What this cannot do:

- A thread can't be left and entered again. If it waits for what only its starter could do next, it gets a `Deadlock`.
  A daemon, which programs leave behind at their end anyhow, is simply over at its first wait that has to last, unless
  it is being joined.
- A daemon that nobody waits for does not run. Any other thread runs at the end of a script at the latest.
- `threading.local` and `get_ident` don't tell threads apart.
"""

import _thread
import threading
import time
from _asyncio import _get_running_loop, _set_running_loop, _swap_current_task

from skillcell_guest import failure

_started = []
_sleep = time.sleep


class _Left(BaseException):
    """Ends a daemon that would have to wait."""


def install():
    threading.Thread.start = _start
    threading.Thread.join = _join
    threading.Thread.is_alive = _is_alive
    threading._shutdown = finish
    threading.get_native_id = lambda: threading.main_thread().ident
    threading._HAVE_THREAD_NATIVE_ID = True
    time.sleep = sleep
    _thread.start_new_thread = _thread.start_new = _start_new_thread
    _thread.start_joinable_thread = threading._start_joinable_thread = _start_joinable_thread


def sleep(seconds, /):
    if _started:
        run_started()
    _sleep(seconds)


def run_started(until=None):
    """Runs threads that were started, in that order, until `until()`. Gives whether it came to that."""
    while _started:
        _run(_started.pop(0))
        if until is not None and until():
            return True
    return False


def finish():
    """A program's end waits for the threads that are no daemons."""
    while left := [thread for thread in _started if not thread.daemon]:
        left[0].join()


def leave_background():
    """Called before a wait that has to last: a daemon goes no further."""
    current = threading.current_thread()
    if current.daemon and getattr(current, "_skillcell_running", None) and not current._skillcell_joined:
        raise _Left


def aside(function, *args, **kwargs):
    """Calls a function as if on another thread: the event loop that may be running here is out of its sight."""
    loop = _get_running_loop()
    if loop is None:
        return function(*args, **kwargs)
    task = _swap_current_task(loop, None)
    _set_running_loop(None)
    try:
        return function(*args, **kwargs)
    finally:
        _set_running_loop(loop)
        _swap_current_task(loop, task)


def _start(self):
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    if self._started.is_set():
        raise RuntimeError("threads can only be started once")
    self._started.set()
    self._ident = id(self)
    self._skillcell_running = self._skillcell_joined = False
    _started.append(self)


def _run(thread):
    ident = _thread.get_ident()
    starter = threading._active.get(ident)
    threading._active[ident] = thread
    thread._skillcell_running = True
    try:
        aside(thread.run)
    except _Left:
        pass
    except BaseException as error:
        error.__traceback__ = failure.without_ours(error.__traceback__)
        threading._make_invoke_excepthook()(thread)
    finally:
        thread._skillcell_running = None
        if starter is not None:
            threading._active[ident] = starter


def _join(self, timeout=None):
    if not self._started.is_set():
        raise RuntimeError("cannot join thread before it is started")
    if self is threading.current_thread():
        raise RuntimeError("cannot join current thread")
    self._skillcell_joined = True
    run_started(until=lambda: self._skillcell_running is None)
    if getattr(self, "_skillcell_running", None):
        from skillcell_guest.standins.locks import Deadlock

        raise Deadlock("the thread that started this one")


def _is_alive(self):
    """Asking counts as waiting, so that a loop over it ends."""
    if not self._started.is_set():
        return False
    running = getattr(self, "_skillcell_running", True)
    if running is False:
        run_started()
        running = self._skillcell_running
    return running is not None


def _start_new_thread(function, args, kwargs=None, /):
    thread = threading.Thread(target=function, args=args, kwargs=kwargs or {}, daemon=True)
    thread.start()
    return thread.ident


def _start_joinable_thread(function, handle=None, daemon=True):
    _start_new_thread(function, ())
    return handle if handle is not None else _thread._make_thread_handle(_thread.get_ident())
