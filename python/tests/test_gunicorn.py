"""The real gunicorn, which forks its workers: each has a host of its own, whoever made the first one."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import WORKER

pytest.importorskip("gunicorn")

#: The host is the module's, and called where the module is loaded: with `--preload` in the process that forks.
APP = f"""
import asyncio, json, os
import skillcell

host = skillcell.Host()
worker = host.skill({str(WORKER)!r})
loaded_by = os.getpid()
host.call(worker, {{"action": "echo"}})
asyncio.run(host.acall(worker, {{"action": "echo"}}))

def app(environ, start_response):
    value = environ["QUERY_STRING"]
    called = host.call(worker, {{"action": "echo", "value": value}}).result
    awaited = asyncio.run(host.acall(worker, {{"action": "echo", "value": value}})).result
    # The deadline is kept by a thread, which is one of the process's own.
    limit = host.call(worker, {{"action": "spin"}}, timeout=0.1).limit
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps([os.getpid(), loaded_by, [called, awaited, limit]]).encode()]
"""
SECONDS = 90


@contextmanager
def served(folder: Path, *options: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """gunicorn with this app on loopback; it is ended, and has to end."""
    (folder / "app_of_test.py").write_text(APP)
    command = [sys.executable, "-m", "gunicorn", "--workers", "2", "--timeout", "60", "--graceful-timeout", "10"]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        command += ["--bind", f"fd://{listening.fileno()}", "--chdir", str(folder), *options, "app_of_test:app"]
        started = subprocess.Popen(
            command, pass_fds=[listening.fileno()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", started
            started.send_signal(signal.SIGTERM)
            assert started.wait(30) == 0
        except BaseException as error:
            started.kill()
            raise AssertionError(started.communicate(timeout=30)[0]) from error


def ask(url: str, value: str) -> Any:
    with urllib.request.urlopen(f"{url}/?{value}", timeout=SECONDS) as answer:
        return json.load(answer)


def ask_all(url: str, count: int) -> list[Any]:
    """The answers to so many requests at once, and each is right."""
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, url, f"n{n}") for n in range(count)]
        answers = [answer.result() for answer in asked]
    assert [answer[2] for answer in answers] == [[f"n{n}", f"n{n}", "deadline"] for n in range(count)]
    return answers


def ask_until_two(url: str) -> list[Any]:
    """Answers of both workers, which take what they come to first."""
    answers: list[Any] = []
    end = time.monotonic() + SECONDS
    while len({worker for worker, *_ in answers}) < 2:
        assert time.monotonic() < end, answers
        answers += ask_all(url, 8)
    return answers


@pytest.mark.parametrize("worker", ["sync", "gthread"])
def test_a_child_of_preload_has_its_own_host(tmp_path: Path, worker: str) -> None:
    options = ["--preload", "--worker-class", worker, "--threads", "4" if worker == "gthread" else "1"]
    with served(tmp_path, *options) as (url, started):
        answers = ask_until_two(url)
        assert {loaded_by for _, loaded_by, _ in answers} == {started.pid}
        assert started.pid not in {worker for worker, *_ in answers}
        # A worker that is killed, whatever it was doing, is replaced by another child of the same parent.
        killed = answers[0][0]
        os.kill(killed, signal.SIGKILL)
        assert killed not in {worker for worker, *_ in ask_until_two(url)}


def test_workers_that_load_the_app_themselves_work_too(tmp_path: Path) -> None:
    with served(tmp_path) as (url, _):
        assert all(worker == loaded_by for worker, loaded_by, _ in ask_until_two(url))
