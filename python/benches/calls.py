"""What a call from Python costs beside Rust's own, and how many `acall`s go at once beside threads. Interleaved: absolute
times on a shared machine mean little, ratios between neighbours hold.

    python python/benches/calls.py [seconds]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import skillcell

NOTHING = Path(__file__).parents[2] / "skills-compat" / "demo" / "nothing"
ROUNDS = 5
AT_ONCE = 32

host = skillcell.Host()
skill = host.skill(NOTHING)


def time_calls(count: int) -> list[float]:
    """How much longer than `Host::call` in Rust each call took, in milliseconds: its report has what that took."""
    extra: list[float] = []
    for _ in range(count):
        started = time.perf_counter()
        report = host.call(skill, {})
        extra.append((time.perf_counter() - started) * 1e3 - report.usage.wall_ms)
    return extra


def count_threads(threads: int, seconds: float) -> float:
    """Calls per second of threads that call one after the other."""
    until = time.perf_counter() + seconds

    def work() -> int:
        count = 0
        while time.perf_counter() < until:
            host.call(skill, {})
            count += 1
        return count

    with ThreadPoolExecutor(threads) as pool:
        working = [pool.submit(work) for _ in range(threads)]
        return sum(each.result() for each in working) / seconds


async def count_acalls(tasks: int, seconds: float) -> float:
    """Calls per second of tasks that call one after the other."""
    until = time.perf_counter() + seconds

    async def work() -> int:
        count = 0
        while time.perf_counter() < until:
            await host.acall(skill, {})
            count += 1
        return count

    return sum(await asyncio.gather(*(work() for _ in range(tasks)))) / seconds


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    time_calls(50)
    in_main: list[float] = []
    in_thread: list[float] = []
    threads: list[float] = []
    acalls: list[float] = []
    with ThreadPoolExecutor(1) as one:
        for _ in range(ROUNDS):
            in_main += time_calls(500)
            in_thread += one.submit(time_calls, 500).result()
            threads.append(count_threads(AT_ONCE, seconds))
            acalls.append(asyncio.run(count_acalls(AT_ONCE, seconds)))
    print(f"more than Rust's, in the main thread: {statistics.median(in_main):.4f} ms (median)")
    print(f"more than Rust's, in another thread:  {statistics.median(in_thread):.4f} ms (median)")
    ratios = [ours / theirs for ours, theirs in zip(acalls, threads, strict=True)]
    print(f"{AT_ONCE} threads: {statistics.median(threads):.0f} calls/s")
    print(
        f"{AT_ONCE} acalls:  {statistics.median(acalls):.0f} calls/s, {statistics.median(ratios):.2f} of the threads'"
    )


if __name__ == "__main__":
    main()
