"""What the drivers share: they read what to do as lines of JSON and answer with one line each.

    {"work": {"name": …, "text": …}, "calls": 20, "threads": 1}
    {"ms": [...], "seconds": 1.2, "printed": "..."}    or {"failed": "..."}

A driver gives `call(work)`: one call that has the state that `peers.toml` says, and what it printed.
"""

import json
import os
import sys
import threading
import time


def drive(call):
    # Whatever a peer prints itself is not an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = run(call, **asked)
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"[-300:]}
        print(json.dumps(answer), file=answers, flush=True)


def run(call, work, calls, threads):
    printed = [None]
    times = [[] for _ in range(threads)]
    failures = []

    def some(mine):
        try:
            for _ in range(calls):
                started = time.perf_counter()
                printed[0] = call(work)
                mine.append((time.perf_counter() - started) * 1e3)
        except Exception as error:
            failures.append(error)

    started = time.perf_counter()
    if threads == 1:
        some(times[0])
    else:
        running = [threading.Thread(target=some, args=(mine,)) for mine in times]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    seconds = time.perf_counter() - started
    if failures:
        raise failures[0]
    return {"ms": [one for mine in times for one in mine], "seconds": seconds, "printed": printed[0]}
