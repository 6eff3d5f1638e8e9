"""Stands for `ThreadPoolExecutor`, and for the thread pool of `multiprocessing`: `submit` runs the function at once.

So results come in the order of submission, `cancel` never succeeds, and a function that waits for one that is
submitted after it gets a `Deadlock`. `ProcessPoolExecutor` can't be made; see `processes`.
"""

import concurrent.futures
import concurrent.futures.thread
from concurrent.futures import Future

from skillcell_guest.standins import missing, threads


class ThreadPoolExecutor(concurrent.futures.Executor):
    BROKEN = concurrent.futures.thread.BrokenThreadPool

    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=(), **more):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._max_workers = max_workers or 1
        self._thread_name_prefix = thread_name_prefix
        self._initializer = initializer, initargs
        self._shutdown = False

    def submit(self, fn, /, *args, **kwargs):
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")
        self._initialize()
        future = Future()
        future.set_running_or_notify_cancel()
        try:
            result = threads.aside(fn, *args, **kwargs)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
        return future

    def _initialize(self):
        initializer, args = self._initializer
        self._initializer = None, ()
        if initializer is not None:
            try:
                initializer(*args)
            except BaseException as error:
                raise self.BROKEN("A thread initializer failed, the thread pool is not usable anymore") from error

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._shutdown = True


class ThreadPool:
    """`multiprocessing.pool.ThreadPool`, likewise inline."""

    def __init__(self, processes=None, initializer=None, initargs=()):
        self._executor = ThreadPoolExecutor(processes, initializer=initializer, initargs=initargs)

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):
        result = _Result(self._executor.submit(func, *args, **kwds))
        then = callback if result.successful() else error_callback
        if then is not None:
            then(result.get() if result.successful() else result._future.exception())
        return result

    def apply(self, func, args=(), kwds={}):
        return self.apply_async(func, args, kwds).get()

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        every = lambda: [func(*args) for args in iterable]
        return self.apply_async(every, callback=callback, error_callback=error_callback)

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return self.starmap_async(func, ((item,) for item in iterable), chunksize, callback, error_callback)

    def map(self, func, iterable, chunksize=None):
        return self.map_async(func, iterable).get()

    def starmap(self, func, iterable, chunksize=None):
        return self.starmap_async(func, iterable).get()

    def imap(self, func, iterable, chunksize=1):
        results = [self.apply_async(func, (item,)) for item in iterable]
        return (result.get() for result in results)

    imap_unordered = imap

    def close(self):
        self._executor.shutdown()

    terminate = close

    def join(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class _Result:
    """`multiprocessing.pool.AsyncResult`, always ready."""

    def __init__(self, future):
        self._future = future

    def get(self, timeout=None):
        return self._future.result()

    def wait(self, timeout=None):
        pass

    def ready(self):
        return True

    def successful(self):
        return self._future.exception() is None


class ProcessPoolExecutor:
    def __init__(self, *args, **kwargs):
        raise missing.error("processes (`ProcessPoolExecutor`)", "use ThreadPoolExecutor, which runs inline")


def install():
    concurrent.futures.ThreadPoolExecutor = concurrent.futures.thread.ThreadPoolExecutor = ThreadPoolExecutor
    concurrent.futures.ProcessPoolExecutor = ProcessPoolExecutor
