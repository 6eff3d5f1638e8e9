"""`acall`: the loop is never blocked, and a cancelled task ends its call."""

from __future__ import annotations

import asyncio
import gc
import os
import time

import pytest
from conftest import WORKER

import skillcell


def test_many_calls_at_once_come_back_in_order(host: skillcell.Host, worker: skillcell.Skill) -> None:
    async def main() -> list[int]:
        calls = [host.acall(worker, {"action": "echo", "value": n}) for n in range(300)]
        return [report.result for report in await asyncio.gather(*calls)]

    assert asyncio.run(main()) == list(range(300))


def test_the_loop_runs_while_calls_wait_and_compute(host: skillcell.Host, worker: skillcell.Skill) -> None:
    async def main() -> int:
        spinning = [asyncio.create_task(host.acall(worker, {"action": "spin"}, timeout=0.5)) for _ in range(4)]
        by_path = asyncio.create_task(host.acall(WORKER, {"action": "sleep", "seconds": 0.3}))
        turns = 0
        while not all(task.done() for task in [*spinning, by_path]):
            await asyncio.sleep(0.01)
            turns += 1
        assert [task.result().limit for task in spinning] == ["deadline"] * 4
        assert by_path.result().result == "slept"
        return turns

    assert asyncio.run(main()) > 5


def test_calls_that_only_wait_do_not_hold_up_others(host: skillcell.Host, worker: skillcell.Skill) -> None:
    async def main() -> None:
        waiting = [asyncio.create_task(host.acall(worker, {"action": "sleep", "seconds": 20})) for _ in range(20)]
        await asyncio.sleep(0.2)
        assert (await host.acall(worker, {"action": "echo", "value": 1})).result == 1
        assert not any(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(main())


def test_a_cancelled_task_ends_its_call(host: skillcell.Host, worker: skillcell.Skill) -> None:
    alone = skillcell.Host(threads=1)

    async def main() -> None:
        for action in ({"action": "spin"}, {"action": "sleep", "seconds": 600}):
            task = asyncio.create_task(alone.acall(worker, action, timeout=600))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # The only thread is free again: the call that was cancelled has ended.
            assert (await asyncio.wait_for(alone.acall(worker, {"action": "echo", "value": 1}), 30)).result == 1

    asyncio.run(main())


def test_wait_for_ends_the_call_at_its_timeout(host: skillcell.Host, worker: skillcell.Skill) -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(host.acall(worker, {"action": "spin"}, timeout=600), 0.2)

    asyncio.run(main())


def test_errors_reach_the_task(host: skillcell.Host, worker: skillcell.Skill) -> None:
    async def main() -> None:
        with pytest.raises(skillcell.HostError):
            await host.acall("no/such_skill")
        with pytest.raises(TypeError, match="nonsense"):
            await host.acall(worker, nonsense=1)  # type: ignore[call-arg]
        with pytest.raises(skillcell.Raised):
            _ = (await host.acall(worker, {"action": "raise"})).result

    asyncio.run(main())


def test_a_call_may_be_blocking_while_all_threads_are_busy(worker: skillcell.Skill) -> None:
    alone = skillcell.Host(threads=1)

    async def main() -> None:
        task = asyncio.create_task(alone.acall(worker, {"action": "sleep", "seconds": 600}, timeout=600))
        await asyncio.sleep(0.2)
        assert alone.call(worker, {"action": "echo", "value": 1}).result == 1
        task.cancel()

    asyncio.run(main())


def test_loops_that_ended_leave_nothing(host: skillcell.Host, worker: skillcell.Skill) -> None:
    async def main() -> None:
        await host.acall(worker, {"action": "echo", "value": 1})

    def open_files() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    for _ in range(5):
        asyncio.run(main())
    before = open_files()
    for _ in range(50):
        asyncio.run(main())
    assert open_files() <= before


def test_a_loop_in_another_thread_works_too(host: skillcell.Host, worker: skillcell.Skill) -> None:
    async def in_threads() -> None:
        runs = [asyncio.to_thread(asyncio.run, call()) for _ in range(4)]
        assert [report.result for report in await asyncio.gather(*runs)] == [1] * 4

    async def call() -> skillcell.Report:
        return await host.acall(worker, {"action": "echo", "value": 1})

    started = time.monotonic()
    asyncio.run(in_threads())
    assert time.monotonic() - started < 60
