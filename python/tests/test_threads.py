"""One host, skill, report, session and inbox for many threads at once: what a Python without GIL takes for granted."""

from __future__ import annotations

import asyncio
import sys
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, TypeVar

import pytest
from conftest import WORKER, Do

import skillcell

AT_ONCE = 8
T = TypeVar("T")


def all_at_once(work: Callable[[int], T]) -> list[T]:
    """What each thread's work gave; they begin together."""
    begin = threading.Barrier(AT_ONCE)

    def run(number: int) -> T:
        begin.wait(60)
        return work(number)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(run, range(AT_ONCE)))


def test_the_module_brings_no_gil_back() -> None:
    is_enabled: Callable[[], bool] = sys.__dict__.get("_is_gil_enabled", lambda: True)
    assert is_enabled() is not bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def test_a_result_is_made_once_whoever_asks_first(do: Do) -> None:
    for length in (10, 1 << 17):
        report = do("echo", value=["x" * length, {"a": 1}])

        def ask(_: int, report: skillcell.Report = report) -> object:
            return report.result

        assert len({id(result) for result in all_at_once(ask)}) == 1


def test_hosts_are_made_used_and_dropped_beside_each_other(worker: skillcell.Skill) -> None:
    def work(number: int) -> list[int]:
        mine = skillcell.Host(threads=1 + number % 2)
        return [mine.call(worker, {"action": "echo", "value": number}).result for _ in range(10)]

    assert all_at_once(work) == [[number] * 10 for number in range(AT_ONCE)]


def test_calls_in_one_session_are_made_one_after_the_other(do: Do) -> None:
    with skillcell.Session() as session:
        counts = all_at_once(lambda _: [do("count", options={"session": session}).result for _ in range(5)])
    assert sorted(chain.from_iterable(counts)) == list(range(1, 5 * AT_ONCE + 1))


def test_loops_of_many_threads_share_a_host_and_cancel_only_their_own(
    host: skillcell.Host, worker: skillcell.Skill
) -> None:
    async def main(number: int) -> list[Any]:
        endless = asyncio.create_task(host.acall(worker, {"action": "sleep", "seconds": 600}, timeout=600))
        echoes = [host.acall(worker, {"action": "echo", "value": (number, n)}) for n in range(20)]
        results = [report.result for report in await asyncio.gather(*echoes)]
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        return results

    loops = all_at_once(lambda number: asyncio.run(main(number)))
    assert loops == [[[number, n] for n in range(20)] for number in range(AT_ONCE)]


def test_params_that_another_thread_changes_are_some_state_of_them_or_an_error(do: Do) -> None:
    params: dict[str, int] = {}
    done = threading.Event()

    def change() -> None:
        number = 0
        while not done.is_set():
            number += 1
            params[str(number % 1000)] = number
            params.pop(str((number * 7) % 1000), None)

    changing = threading.Thread(target=change)
    changing.start()

    def work(_: int) -> int:
        seen = 0
        for _ in range(20):
            try:
                seen += isinstance(do("echo", value=params).result, dict)
            except RuntimeError as error:  # what iteration says
                assert "changed" in str(error)
        return seen

    try:
        all_at_once(work)
    finally:
        done.set()
        changing.join()
    assert do("echo", value=1).result == 1


def test_a_skill_is_found_by_many_at_once(host: skillcell.Host) -> None:
    assert len({skill.digest for skill in all_at_once(lambda _: host.skill(WORKER))}) == 1
