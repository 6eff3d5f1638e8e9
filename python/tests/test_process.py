"""What happens to a process: signals, forks, its end, and many calls."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import PRELUDE, WORKER, run_program

#: Calls of the soak: seven seconds of processor time.
SOAK_CALLS = int(os.environ.get("SKILLCELL_SOAK_CALLS", "100000"))


def test_ctrl_c_ends_a_call_in_the_main_thread() -> None:
    for action in ("'spin'", "'sleep', seconds=600"):
        program = f"""
host = skillcell.Host(timeout=600)
print("ready", flush=True)
try:
    do({action})
except KeyboardInterrupt:
    print("interrupted", do("echo", value=1).result, flush=True)
"""
        started = subprocess.Popen([sys.executable, "-c", PRELUDE + program], stdout=subprocess.PIPE, text=True)
        assert started.stdout is not None and started.stdout.readline() == "ready\n"
        time.sleep(0.5)
        started.send_signal(signal.SIGINT)
        out, _ = started.communicate(timeout=60)
        assert out == "interrupted 1\n" and started.returncode == 0


def test_a_handler_that_does_not_raise_lets_the_call_go_on() -> None:
    ran = run_program("""
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.monotonic()))
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1)).start()
result = do("sleep", seconds=1).result
print(result, len(seen), time.monotonic() - seen[0] > 0.3)
""")
    assert ran.stdout == "slept 1 True\n", ran.stderr


def test_ctrl_c_ends_an_event_loop_with_its_calls() -> None:
    ran = run_program("""
async def main():
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    await asyncio.gather(*(host.acall(worker, {"action": "spin"}, timeout=600) for _ in range(4)))
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted", do("echo", value=1).result)
""")
    assert ran.stdout == "interrupted 1\n", ran.stderr


@pytest.mark.parametrize("called", [False, True])
def test_a_child_of_fork_has_a_host_of_its_own(called: bool) -> None:
    ran = run_program(f"""
if {called}:
    do("echo", value=0)
    asyncio.run(host.acall(worker, {{"action": "echo"}}))
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        first = do("echo", value=number).result
        second = asyncio.run(host.acall(worker, {{"action": "echo", "value": number}})).result
        # The deadline is kept by a thread, which the child needs one of.
        third = host.call(worker, {{"action": "spin"}}, timeout=0.2).limit
        ok = (first, second, third) == (number, number, "deadline")
        sys.exit(40 + number if ok else 1)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(codes, do("echo", value=9).result)
""")
    assert ran.stdout == "[40, 41, 42] 9\n", ran.stderr


def test_a_pool_of_forked_processes_works() -> None:
    ran = run_program("""
import multiprocessing
def square(n):
    return do("echo", value=n).result ** 2
do("echo", value=0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(square, range(5)))
""")
    assert ran.stdout == "[0, 1, 4, 9, 16]\n", ran.stderr


@pytest.mark.parametrize(
    "change", ["faulthandler.enable()", "faulthandler.enable(); do('abort'); faulthandler.disable()"]
)
def test_a_crash_of_a_cell_is_survived_though_the_signals_were_taken(change: str) -> None:
    ran = run_program(f"""
import faulthandler
do("abort")
{change}
print(do("abort").outcome, do("echo", value=1).result)
""")
    assert ran.stdout == "raised 1\n", ran.stderr


@pytest.mark.parametrize("change", ["faulthandler.enable()", "signal.signal(signal.SIGSEGV, signal.SIG_DFL)"])
def test_a_deadline_and_a_cancellation_hold_though_the_signals_are_taken_meanwhile(change: str) -> None:
    ran = run_program(f"""
import faulthandler
def spin():
    print(host.call(worker, {{"action": "spin"}}, timeout=1).limit)
spinning = threading.Thread(target=spin)
spinning.start()
time.sleep(0.3)
{change}
spinning.join()
async def cancelled():
    task = asyncio.create_task(host.acall(worker, {{"action": "spin"}}, timeout=60))
    await asyncio.sleep(0.3)
    faulthandler.disable()
    {change}
    task.cancel()
    await asyncio.wait([task])
asyncio.run(cancelled())
print(do("echo", value=1).result)
""")
    assert ran.stdout == "deadline\n1\n", ran


@pytest.mark.parametrize(
    "source",
    [
        # Calls of daemon threads under way.
        "for _ in range(4): threading.Thread(target=do, args=('spin',), daemon=True).start()",
        # A loop that was left with calls under way.
        "loop = asyncio.new_event_loop()\n"
        "tasks = [loop.create_task(host.acall(worker, {'action': 'spin'})) for _ in range(4)]\n"
        "loop.run_until_complete(asyncio.sleep(0.2))",
        # A call made while the interpreter ends.
        "import atexit; atexit.register(do, 'echo')",
        "class Late:\n    def __del__(self):\n        do('echo')\nlate = Late()",
    ],
)
def test_the_interpreter_ends_whatever_is_under_way(source: str) -> None:
    started = time.monotonic()
    ran = run_program(source + "\ntime.sleep(0.2)\nprint('end')")
    assert ran.returncode == 0 and ran.stdout == "end\n", ran
    # Nobody waited for the calls, which have 30 seconds.
    assert time.monotonic() - started < 25


def test_many_calls_leave_nothing_behind() -> None:
    ran = run_program(
        f"""
import gc
def held():
    gc.collect()  # an event loop that ended is a cycle, and holds its descriptors
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines["VmRSS"].split()[0]), int(lines["Threads"]), len(os.listdir("/proc/self/fd"))
async def some(count):
    for _ in range(count // 16):
        await asyncio.gather(*(host.acall(worker, {{"action": "echo", "value": "x" * 100}}) for _ in range(16)))
def round(count):
    for n in range(count // 2):
        do("echo", value="x" * 100).result
        if n % 100 == 0:
            do("raise"), do("abort")
    asyncio.run(some(count // 2))
round(2000)
before = held()
round({SOAK_CALLS})
after = held()
print(before, after, file=sys.stderr)
# Pages of the allocator come and go; a hundred bytes for each call would be more than this at 10**5.
assert after[0] - before[0] < 8 << 10, (before, after)
# How many threads the calls took is a matter of chance; one for each would be thousands.
assert after[1] < before[1] + 16 and after[2] <= before[2], (before, after)
print("fine")
""",
        seconds=300,
    )
    assert ran.stdout == "fine\n", ran.stderr
    print(ran.stderr)


def test_the_command_comes_with_the_package() -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "skillcell", *words], capture_output=True, text=True, timeout=120)

    assert run("--version").stdout.startswith("skillcell ")
    returned = run("run", str(WORKER), "--params", '{"action": "echo", "value": 5}')
    assert (returned.returncode, returned.stdout.strip()) == (0, "5")
    codes: list[tuple[tuple[str, ...], int]] = [
        (("run", str(WORKER), "--params", '{"action": "raise"}'), 1),
        (("run", str(WORKER), "--no-such-flag"), 2),
        (("run", "no/such_skill"), 2),
        (("run", str(WORKER), "--params", '{"action": "spin"}', "--timeout", "200ms"), 4),
    ]
    for words, code in codes:
        assert run(*words).returncode == code, words


def test_the_command_serves_mcp_on_stdio() -> None:
    ask = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ask},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "worker", "arguments": {"action": "echo"}},
        },
    ]
    told = "".join(json.dumps(line) + "\n" for line in lines)
    # Its end of input is left open until it has answered: that is how a client ends it.
    started = subprocess.Popen(
        [sys.executable, "-m", "skillcell", "mcp", str(WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdin is not None and started.stdout is not None
    started.stdin.write(told)
    started.stdin.flush()
    answers = {answer["id"]: answer for answer in (json.loads(started.stdout.readline()) for _ in range(2))}
    started.communicate(timeout=60)
    assert answers[1]["result"]["serverInfo"]["name"] == "skillcell" and started.returncode == 0
    assert answers[2]["result"]["isError"] is False


def test_ctrl_c_ends_the_command() -> None:
    words = ["run", str(WORKER), "--params", '{"action": "spin"}', "--timeout", "600"]
    started = subprocess.Popen([sys.executable, "-m", "skillcell", *words])
    time.sleep(1.5)
    started.send_signal(signal.SIGINT)
    assert started.wait(30) == -signal.SIGINT
