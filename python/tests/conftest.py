"""One host for all tests: its calls share the compiled runtime and the images."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import skillcell

WORKER = Path(__file__).parent / "skills" / "worker"
#: What a program that a test starts begins with.
PRELUDE = f"""
import asyncio, os, signal, sys, threading, time
import skillcell
# Whoever starts tests in the background has it ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
host = skillcell.Host()
worker = host.skill({str(WORKER)!r})
def do(action, **params):
    return host.call(worker, dict(params, action=action))
"""


@pytest.fixture(scope="session")
def host() -> skillcell.Host:
    return skillcell.Host()


@pytest.fixture(scope="session")
def worker(host: skillcell.Host) -> skillcell.Skill:
    return host.skill(WORKER)


Do = Callable[..., skillcell.Report]


@pytest.fixture(scope="session")
def do(host: skillcell.Host, worker: skillcell.Skill) -> Do:
    """Calls the worker with an action and its params."""

    def call(action: str, *, options: skillcell.CallOptions | None = None, **params: object) -> skillcell.Report:
        return host.call(worker, dict(params, action=action), **(options or {}))

    return call


def run_program(source: str, *, prelude: str = PRELUDE, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a Python program with a host of its own, and fails if it hangs."""
    return subprocess.run([sys.executable, "-c", prelude + source], capture_output=True, text=True, timeout=seconds)
