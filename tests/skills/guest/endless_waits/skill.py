import asyncio
import queue
import threading

from skillware.core.base_skill import BaseSkill


async def pending():
    await asyncio.get_running_loop().create_future()


def lock_twice():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def wait_for_starter():
    """The thread waits for what its starter does after joining it."""
    done, seen = threading.Event(), []

    def wait():
        try:
            done.wait()
        except RuntimeError as error:
            seen.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    raise seen[0]


WAITS = {
    "future": lambda: asyncio.run(pending()),
    "lock": lock_twice,
    "event": lambda: threading.Event().wait(),
    "queue": lambda: queue.Queue().get(),
    "simple_queue": lambda: queue.SimpleQueue().get(),
    "semaphore": lambda: threading.Semaphore(0).acquire(),
    "starter": wait_for_starter,
}


class EndlessWaits(BaseSkill):
    manifest = {}

    def execute(self, params):
        if params["wait"] == "with timeouts":
            lock = threading.Lock()
            lock.acquire()
            return [threading.Event().wait(0.01), lock.acquire(timeout=0.01), lock.acquire(blocking=False)]
        WAITS[params["wait"]]()
