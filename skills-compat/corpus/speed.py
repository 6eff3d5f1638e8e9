"""How long `--help` of the corpus' scripts takes in a warm cell, and in Python, interleaved in one run:

    python3 speed.py FOLDER --skillcell PROGRAM --python PYTHON

FOLDER is what `lay.py` made. Of the scripts whose usage is the same in both places (`matrix/matrix.json`) and that need no packages, each is measured

    from the shell  `skillcell script SKILL SCRIPT -- --help` beside `python3 SCRIPT --help`, in turns
    in a process    `skillcell bench SKILL --script SCRIPT -- --help`, a fresh cell each time, beside the same code executed again and again in a Python that
                    has all modules loaded

Nobody's script runs unconfined: the Python is in bubblewrap, without network, with a copy of the skill and nothing else that can be written to. What
bubblewrap itself takes is measured in the same turns, with `true`, and taken off.

From the shell it is time on the clock. In a process it is processor time: of a call that takes a millisecond the clock says, on a machine that is not idle, how long
others ran meanwhile.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

MATRIX = pathlib.Path(__file__).parent / "matrix" / "matrix.json"
_AGAIN = """
import io, os, statistics, sys, time, types
path, count = sys.argv[1], int(sys.argv[2])
sys.argv, sys.path[0] = [path, "--help"], os.path.dirname(os.path.abspath(path))
with open(path, "rb") as file:
    code = compile(file.read(), os.path.abspath(path), "exec")
def once():
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__, sys.stdout = os.path.abspath(path), io.StringIO()
    began = time.process_time()
    try:
        exec(code, main.__dict__)
    except SystemExit:
        pass
    return time.process_time() - began
own = sys.stdout
times = [once() for _ in range(20 + count)][20:]
print(statistics.median(times) * 1e3, file=own)
"""


def scripts(matrix):
    for row in json.loads(matrix.read_text())["skills"]:
        for script in row.get("scripts", ()):
            usage = script.get("usage") or {}
            if usage.get("same") and usage["cell"] == "exit 0" and not script.get("requirements"):
                yield row["id"], script["script"]


def confined(python, folder):
    """What goes before a command: bubblewrap, with this Python and a folder."""
    prefix = subprocess.run([python, "-I", "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True, check=True)
    places = [place for place in ("/usr", "/lib", "/lib64", "/bin", "/etc/alternatives", prefix.stdout.strip()) if os.path.exists(place)]
    shown = [part for place in dict.fromkeys(places) for part in ("--ro-bind", place, place)]
    return ["bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "LANG", "C.UTF-8", *shown, "--dev", "/dev",
            "--proc", "/proc", "--tmpfs", "/tmp", "--bind", str(folder), "/skill", "--chdir", "/skill"]  # fmt: skip


def milliseconds(command):
    began = time.perf_counter()
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    spent = (time.perf_counter() - began) * 1e3
    return spent if ended.returncode == 0 else None


def from_shell(cell, python, nothing, turns):
    """Medians of each, one after the other in each turn; the first turn warms up."""
    commands = [cell, python, nothing]
    taken = [[milliseconds(command) for command in commands] for _ in range(turns + 1)][1:]
    if any(one is None for turn in taken for one in turn):
        return None
    return [statistics.median(turn[at] for turn in taken) for at in range(3)]


def in_process(asked, skill, script, before):
    again = subprocess.run([*before, asked.python, "-c", _AGAIN, script, str(asked.calls)], capture_output=True, text=True)
    few, many = (_processor_time(asked, skill, script, calls) for calls in (1, 1 + asked.calls))
    try:
        return (many - few) / asked.calls * 1e3, float(again.stdout.strip().splitlines()[-1])
    except (TypeError, ValueError, IndexError):
        return None


def _processor_time(asked, skill, script, calls):
    command = [asked.skillcell, "bench", str(skill), "--script", script, "--calls", str(calls), "--json", "--", "--help"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime if ended.returncode == 0 else None


def measure(asked, id, script):
    skill = asked.work / "skills" / id
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place) / "skill"
        shutil.copytree(skill, copy)
        before = confined(asked.python, copy)
        cell = [asked.skillcell, "script", str(skill), script, "--", "--help"]
        shell = from_shell(cell, [*before, asked.python, script, "--help"], [*before, "true"], asked.turns)
        inside = in_process(asked, skill, script, before)
    if shell is None or inside is None:
        return None
    return {"skill": id, "script": script, "shell_cell_ms": shell[0], "shell_python_ms": shell[1] - shell[2],
            "bubblewrap_ms": shell[2], "cell_ms": inside[0], "python_ms": inside[1]}  # fmt: skip


def summary(rows):
    median = lambda key: statistics.median(key(row) for row in rows)  # noqa: E731
    shell = [row["shell_cell_ms"] < row["shell_python_ms"] for row in rows]
    near = [row["cell_ms"] <= 3 * row["python_ms"] + 0.2 for row in rows]
    print(f"{len(rows)} scripts, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"from the shell: cell {median(lambda row: row['shell_cell_ms']):.1f} ms, python3 {median(lambda row: row['shell_python_ms']):.1f} ms, "
          f"median ratio {median(lambda row: row['shell_cell_ms'] / row['shell_python_ms']):.2f}, faster for {sum(shell)}")  # fmt: skip
    print(f"in a process, processor time: cell {median(lambda row: row['cell_ms']):.2f} ms, python {median(lambda row: row['python_ms']):.2f} ms, "
          f"median ratio {median(lambda row: row['cell_ms'] / row['python_ms']):.2f}, within 3 x and 0.2 ms for {sum(near)}")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--skillcell", default="skillcell")
    parser.add_argument("--python", default="python3")
    parser.add_argument("--matrix", type=pathlib.Path, default=MATRIX)
    parser.add_argument("--turns", type=int, default=7, help="of each script from the shell (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=200, help="of each script in a process (default: %(default)s)")
    parser.add_argument("--scripts", type=int, help="only so many, drawn with the seed 15")
    parser.add_argument("--json", type=pathlib.Path, help="where each script's figures go, a line each")
    asked = parser.parse_args()
    chosen = list(scripts(asked.matrix))
    if asked.scripts is not None:
        chosen = random.Random(15).sample(chosen, min(asked.scripts, len(chosen)))
    rows = [row for row in (measure(asked, *one) for one in chosen) if row is not None]
    print(f"{len(chosen) - len(rows)} of {len(chosen)} could not be measured")
    if asked.json:
        asked.json.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if rows:
        summary(rows)


if __name__ == "__main__":
    main()
