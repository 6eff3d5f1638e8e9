#!/usr/bin/env python3
"""What a user would take instead of skillcell, installed and held side by side: `python3 benches/peers/run.py`.

Each peer of `peers.toml` is installed by name and version with the machine's own pip, npm and apt into `target/peers`, and does
the same work: nothing at all, and the kinds of `skills-compat/demo/kernels`, one peer after the other in each round, so that what
else the machine does meets all of them. What a kernel prints has to be what plain Python prints. The tables go to the standard
output as Markdown, progress to the standard error. A peer that can't be installed, or that can't do a kind of work, is listed
with its reason. Needs CPython 3.11 or newer; pyeryx needs a 3.12 beside it.

    --only TEXT     only peers whose name has the text (may be given again); plain Python is always there, to compare with
    --rounds N      rounds of calls and kernels (7)
    --calls N       calls that do nothing in each round (20; one for what takes longer than a second)
"""

import argparse
import ast
import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
CLONE = HERE.parent.parent
FOLDER = CLONE / "target" / "peers"
DEMO = CLONE / "skills-compat" / "demo"
TWELVE = "loops calls objects strings json re sha256 sort dict float exceptions generators".split()
PLAIN = "plain Python"


class Unavailable(Exception):
    """A peer that can't be had here."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--rounds", type=int, default=7, metavar="N")
    parser.add_argument("--calls", type=int, default=20, metavar="N")
    options = parser.parse_args()
    listed = tomllib.loads((HERE / "peers.toml").read_text(encoding="utf-8"))["peer"]
    peers = [
        Peer(entry)
        for entry in listed
        if not options.only or entry["name"] == PLAIN or any(text in entry["name"] for text in options.only)
    ]
    for peer in peers:
        peer.attempt("installing", peer.install)
    for peer in peers:
        peer.attempt("first start, then a start", peer.first_answer)
    works = [work_of(name) for name in ["nothing", *TWELVE]]
    for number in range(options.rounds):
        for peer in peers:
            peer.attempt(f"round {number + 1} of {options.rounds}", lambda: peer.round(works, options.calls))
    for peer in peers:
        peer.attempt("one thread, then two", lambda: peer.throughput(works[0], options.calls))
        peer.close()
    print(report(peers, options))


def say(text):
    print(text, file=sys.stderr, flush=True)


def work_of(name):
    """The work as a program of its own: of kernels.py only what this kernel uses, so that nothing else is asked of a peer."""
    if name == "nothing":
        return {"name": name, "text": "print(0)\n"}
    source = (DEMO / "kernels" / "kernels.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    table = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "KERNELS")
    function = {key.value: value.id for key, value in zip(table.keys, table.values)}[name]
    wanted, kept = {function}, {}
    while True:
        found = {id(node): node for node in tree.body if defines(node) & wanted and id(node) not in kept}
        if not found:
            break
        kept |= found
        for node in found.values():
            wanted |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    body = "\n\n".join(ast.unparse(node) for node in tree.body if id(node) in kept)
    # Once to warm up what Python specialises, as the skill does.
    end = f"\n\n{function}()\nstarted = time.perf_counter()\nresult = {function}()\n"
    end += 'print(json.dumps({"ms": (time.perf_counter() - started) * 1e3, "result": result}))\n'
    return {"name": name, "text": f"import json\nimport time\n{body}{end}"}


def defines(node):
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return set()


class Peer:
    def __init__(self, entry):
        self.entry, self.name = entry, entry["name"]
        self.folder = FOLDER / "".join(c if c.isalnum() else "-" for c in self.name.lower()).strip("-")
        self.cache = self.folder / "cache"
        self.environment = {"PEERS_PYTHON": real_python(), "SKILLCELL_DEMO": str(DEMO)}
        self.process = None
        self.why = None
        self.start_ms = {}
        self.call_ms, self.kernels, self.cannot = [], {}, {}
        self.per_second, self.memory, self.disk = {}, 0, 0

    def attempt(self, doing, action):
        if self.why:
            return
        say(f"{self.name}: {doing}")
        try:
            action()
        except Unavailable as error:
            self.why = str(error)
            say(f"{self.name}: {error}")
            self.close()

    def install(self):
        entry = self.entry
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.cache, ignore_errors=True)
        self.command = [real_python(), str(HERE / "drivers" / entry["driver"])]
        for program in entry.get("apt", []):
            if not shutil.which({"bubblewrap": "bwrap", "uidmap": "newuidmap"}.get(program, program)):
                raise Unavailable(f"{program} is not installed (apt-get install {' '.join(entry['apt'])})")
        if entry.get("pip") or entry.get("clone"):
            python = self.folder / "python" / "bin" / "python"
            wanted = entry.get("pip") or [str(CLONE)]
            if entry.get("clone") or not python.exists():
                shutil.rmtree(self.folder / "python", ignore_errors=True)
                ran([interpreter(entry.get("python")), "-m", "venv", str(python.parent.parent)])
                ran([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
            self.command[0] = str(python)
        if package := entry.get("npm"):
            if not (shutil.which("npm") and shutil.which("node")):
                raise Unavailable("Node and npm are not installed")
            ran(["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(self.folder), package])
            # Node looks for packages beside the program.
            driver = self.folder / entry["driver"]
            shutil.copyfile(HERE / "drivers" / entry["driver"], driver)
            self.command = ["node", str(driver)]
        self.command += entry.get("arguments", [])
        if "podman" in entry.get("arguments", []):
            self.environment["PEERS_IMAGE"] = container_image()

    def first_answer(self):
        """With an empty cache, then again: from a new process to its first answer, as a program that starts would see it."""
        for which in ("first", "again"):
            started = time.perf_counter()
            self.ask(work_of("nothing"))
            self.start_ms[which] = (time.perf_counter() - started) * 1e3
            if which == "first":
                self.close()
        self.disk = size_of(self.folder)

    def ask(self, work, calls=1, threads=1):
        if not self.process:
            home = self.cache / "home"
            home.mkdir(parents=True, exist_ok=True)
            places = {"HOME": str(home), "XDG_CACHE_HOME": str(self.cache), "SKILLCELL_CACHE_DIR": str(self.cache / "skillcell")}
            # pyenv's and podman's own places are found by HOME: processes that need those keep it.
            if self.entry["driver"] == "process.py":
                places = {}
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | self.environment | places,
                text=True,
            )
        try:
            self.process.stdin.write(json.dumps({"work": work, "calls": calls, "threads": threads}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            status = self.process.wait()
            self.process = None
            raise Unavailable(f"its driver ended with status {status}: {' '.join(self.command)}")
        return json.loads(line)

    def round(self, works, calls):
        nothing, *kernels = works
        slow = self.start_ms["again"] > 1000 and self.call_ms and statistics.median(self.call_ms) > 1000
        answer = self.ask(nothing, 1 if slow or not self.call_ms else calls)
        if "failed" in answer:
            raise Unavailable(answer["failed"])
        self.call_ms += answer["ms"]
        for work in kernels:
            if work["name"] in self.cannot:
                continue
            answer = self.ask(work)
            if "failed" in answer:
                self.cannot[work["name"]] = answer["failed"].strip().splitlines()[-1]
                continue
            told = json.loads(answer["printed"])
            self.kernels.setdefault(work["name"], []).append((told["ms"], told["result"]))
        self.memory = max(self.memory, memory_of(self.process.pid))

    def throughput(self, work, calls):
        # About two seconds' worth.
        count = max(2, min(20_000, int(2000 / statistics.median(self.call_ms))))
        for threads in (1, 2):
            answer = self.ask(work, max(1, count // threads), threads)
            if "failed" not in answer:
                self.per_second[threads] = len(answer["ms"]) / answer["seconds"]

    def close(self):
        if self.process:
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None


def ran(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Unavailable(f"{' '.join(command[:4])} … failed: {said[-1] if said else done.returncode}")
    return done.stdout.strip()


def real_python():
    """Not a link and no launcher, so that containers and sandboxes can be given its folder."""
    return os.path.realpath(sys.executable)


def interpreter(version):
    if not version:
        return real_python()
    name = f"python{version}"
    places = [shutil.which(name), *sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"), reverse=True)]
    for place in places:
        if place and subprocess.run([place, "-c", ""], capture_output=True).returncode == 0:
            return str(place)
    raise Unavailable(f"it needs CPython {version}, which is not here")


def container_image():
    """An image of this machine's own Python and what it is linked with: no registry of images is needed."""
    python = real_python()
    root = os.path.dirname(os.path.dirname(python))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = f"{root}/lib/{version}"
    linked = set()
    for file in [python, *map(str, pathlib.Path(library, "lib-dynload").glob("*.so"))]:
        words = ran(["ldd", file]).split()
        linked |= {word for word in words if word.startswith("/")}
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, "image.tar")
        tar = ["tar", "--create", "--dereference", "--file", archive, "--exclude=site-packages", "--exclude=test", "--absolute-names"]
        ran([*tar, python, library, *sorted(linked)])
        return ran(["podman", "import", "--quiet", archive, "skillcell-peers:latest"])


def size_of(folder):
    seen = {}
    for place, _, files in os.walk(folder):
        for file in files:
            about = os.lstat(os.path.join(place, file))
            seen[about.st_dev, about.st_ino] = about.st_blocks * 512
    return sum(seen.values())


def memory_of(process):
    """What a driver and the processes below it hold, shared pages divided among those that share them."""
    total = 0
    try:
        with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as lines:
            total = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as children:
                total += sum(memory_of(int(child)) for child in children.read().split())
    except (OSError, StopIteration):
        pass
    return total


def report(peers, options):
    plain = next(peer for peer in peers if peer.name == PLAIN)
    there = [peer for peer in peers if not peer.why]
    expected = {kind: runs[0][1] for kind, runs in plain.kernels.items()}
    for peer in there:
        for kind, runs in list(peer.kernels.items()):
            if any(result != expected[kind] for _, result in runs):
                peer.cannot[kind] = "another result than plain Python"
                del peer.kernels[kind]
    today = datetime.date.today().isoformat()
    lines = [
        f"{today}, {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}, plain Python is CPython "
        f"{platform.python_version()}; medians of {options.rounds} rounds.",
        "",
        "| | first start | a start | a call, p50 | p99 | calls a second, 1 thread | 2 threads | memory | disk |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for peer in there:
        cells = [
            seconds(peer.start_ms["first"]),
            seconds(peer.start_ms["again"]),
            seconds(statistics.median(peer.call_ms)),
            seconds(sorted(peer.call_ms)[math.ceil(len(peer.call_ms) * 0.99) - 1]),
            *(f"{peer.per_second[threads]:,.4g}" if threads in peer.per_second else "–" for threads in (1, 2)),
            megabytes(peer.memory),
            megabytes(peer.disk) if peer.entry["driver"] != "process.py" else "the system's",
        ]
        lines.append(f"| {peer.name} | {' | '.join(cells)} |")
    lines += ["", f"| times plain Python | {' | '.join(TWELVE)} | geometric mean |", "|---|" + "---:|" * (len(TWELVE) + 1)]
    for peer in there:
        ratios = {kind: median_ms(runs) / median_ms(plain.kernels[kind]) for kind, runs in peer.kernels.items()}
        mean = math.exp(statistics.fmean(map(math.log, ratios.values()))) if len(ratios) == len(TWELVE) else None
        cells = [f"{ratios[kind]:.2f}" if kind in ratios else "no" for kind in TWELVE]
        lines.append(f"| {peer.name} | {' | '.join(cells)} | {f'**{mean:.2f}**' if mean else '–'} |")
    lines += ["", "| | what a call leaves to the next | what it leaves out |", "|---|---|---|"]
    lines += [f"| {peer.name} | {peer.entry['state']} | {peer.entry['leaves_out']} |" for peer in there]
    notes = [f"- {peer.name}, {kind}: {why}" for peer in there for kind, why in peer.cannot.items()]
    notes += [f"- {peer.name}: not measured: {peer.why}" for peer in peers if peer.why]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def median_ms(runs):
    return statistics.median(ms for ms, _ in runs)


def seconds(ms):
    return f"{ms / 1e3:.1f} s" if ms >= 1000 else f"{ms:.3g} ms"


def megabytes(count):
    return f"{count / 1e6:,.0f} MB"


if __name__ == "__main__":
    main()
