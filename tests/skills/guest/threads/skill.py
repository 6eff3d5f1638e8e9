import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing.pool import ThreadPool

from skillware.core.base_skill import BaseSkill


def fed_after_start():
    jobs, done = queue.Queue(), []

    def work():
        while (job := jobs.get()) is not None:
            done.append(job * 2)

    worker = threading.Thread(target=work, name="worker")
    worker.start()
    for job in (1, 2, None):
        jobs.put(job)
    worker.join()
    return done, worker.is_alive()


def daemons():
    jobs, done = queue.Queue(), []

    def work():
        while True:
            done.append(jobs.get())
            jobs.task_done()

    for _ in range(2):
        threading.Thread(target=work, daemon=True).start()
    for job in range(3):
        jobs.put(job)
    jobs.join()
    return done


def polled():
    done = []
    threading.Thread(target=lambda: done.append("polled")).start()
    while not done:
        time.sleep(0.01)
    return done


def timer():
    done = []
    waiting = threading.Timer(0.01, done.append, ["rang"])
    waiting.start()
    waiting.join()
    return done


def heartbeat():
    """A loop that would go on for ever beside the work."""
    stop = threading.Event()

    def beat():
        while not stop.wait(3600):
            pass

    threading.Thread(target=beat, daemon=True).start()
    time.sleep(0.01)
    stop.set()
    return "alive"


def pool():
    with ThreadPoolExecutor(max_workers=4) as executor:
        futures = [executor.submit(pow, 2, n) for n in range(3)]
        failed = executor.submit(lambda: 1 // 0)
        return {
            "completed": sorted(future.result() for future in as_completed(futures)),
            "mapped": list(executor.map(len, ["a", "bb"])),
            "failed": type(failed.exception()).__name__,
        }


class Threads(BaseSkill):
    manifest = {}

    def execute(self, params):
        return {
            "fed": fed_after_start(),
            "daemons": daemons(),
            "polled": polled(),
            "timer": timer(),
            "heartbeat": heartbeat(),
            "pool": pool(),
            "thread_pool": ThreadPool(2).map(abs, [-1, 2]),
        }
