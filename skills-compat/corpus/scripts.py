"""The scripts of Agent Skills that others published, started in a cell and in the tier `subprocess`, side by side.

    python3 scripts.py lay --work FOLDER     fetch by name and hash, lay each skill's folder out, read each script's text
    python3 scripts.py help --work FOLDER    `--help` of each script that has a command line, in both; FOLDER/help.jsonl
    python3 scripts.py runs --work FOLDER    real runs, on the skill's own files, in both; FOLDER/runs.jsonl
    python3 scripts.py table --work FOLDER   scripts.tsv, runs.tsv and the counts

The program is `skillcell`, or what $SKILLCELL names, with the options in $SKILLCELL_OPTIONS. Nothing of a package runs
unconfined: the other side of a comparison is a process in a sandbox, with the Python of this machine.
"""

import argparse
import ast
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

import fetch

TABLE = pathlib.Path(__file__).with_name("scripts.tsv")
RUNS = TABLE.with_name("runs.tsv")
COLUMNS = ["package", "skill", "script", "sha256", "class", "imports", "cell", "subprocess", "same", "why"]
_PROGRAM = [os.environ.get("SKILLCELL", "skillcell")]
_OPTIONS = shlex.split(os.environ.get("SKILLCELL_OPTIONS", ""))
_HTTP = {"requests", "httpx", "aiohttp", "urllib", "http", "urllib3", "websockets", "socket"}
#: What is kept of a stream, to look at differences.
_KEPT = 20_000
_PARSERS = {"argparse", "click", "typer", "optparse", "fire", "docopt"}
_STARTS = re.compile(r"\b(subprocess\.\w+|os\.(system|popen|exec\w+|spawn\w+))\(")


def skills(work):
    """Each folder with a `SKILL.md`, laid out: its package, name and folder."""
    for pin, archive in fetch.archives(work / "archives"):
        found = fetch.files(pin | {"take": ["*"]}, archive)
        roots = sorted(name.rpartition("/")[0] for name in found if name.rpartition("/")[2] == "SKILL.md")
        for root in roots:
            inside = {name.removeprefix(root + "/"): data for name, data in found.items() if name.startswith(root + "/")}
            if not any(name.endswith(".py") for name in inside):
                continue
            folder = work / "agent-skills" / pin["name"] / hashlib.sha256(root.encode()).hexdigest()[:8] / root.rpartition("/")[2]
            for name, data in inside.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            yield f"{pin['name']} {pin['version']}", root, folder, inside


def lay(work):
    """Each script once, whatever its copies. Of its text it is read what it imports and whether it has a command line."""
    seen, rows = set(), []
    for package, root, folder, inside in skills(work):
        for name, data in sorted(inside.items()):
            stem, digest = name.rpartition("/")[2], hashlib.sha256(data).hexdigest()
            is_test = stem.startswith("test_") or stem.endswith("_test.py") or stem in ("conftest.py", "setup.py", "__init__.py")
            if not name.endswith(".py") or is_test or "tests/" in name or digest in seen:
                continue
            seen.add(digest)
            rows.append({"package": package, "skill": root, "script": name, "sha256": digest, "folder": str(folder), **_read(data, inside)})
    (work / "scripts.json").write_text(json.dumps(rows))
    _count("class", rows)


def _read(data, inside):
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return {"class": "not Python 3", "imports": [], "parser": False}
    own = {part.removesuffix(".py") for name in inside for part in name.split("/")}
    tops = {alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    tops |= {node.module.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    foreign = sorted(top for top in tops if top not in sys.stdlib_module_names and top not in own)
    text = data.decode("utf-8", "replace")
    starts, http = bool(_STARTS.search(text)), bool(tops & _HTTP)
    kind = "programs" if starts else "http" if http else "packages" if foreign else "standard library"
    has_main = "__main__" in text
    return {"class": kind, "imports": foreign, "parser": bool(tops & _PARSERS) and has_main}


def _start(row, *more, args=("--help",)):
    command = [*_PROGRAM, "script", row["folder"], row["script"], "--json", "--timeout", "60", "--quiet", *_OPTIONS, *more, "--", *args]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"outcome": "not done after 300 s"}
    except ValueError:
        said = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        return {"outcome": (said or ["error: no answer"])[0][:200]}


def help_of(row):
    """What became of `--help` in a cell, and in a process. Where a cell lacks a module, nothing is compared."""
    cell = _start(row)
    row = row | {"streams": [cell.get("stdout", "")[:_KEPT], cell.get("stderr", "")[:_KEPT]]}
    row = row | {"cell": _brief(cell), "usage_ms": cell.get("usage", {}).get("guest_ms")}
    if cell.get("exit_code") != 0 and _missing(cell):
        return row | {"subprocess": "", "same": "", "why": f"a cell lacks {_missing(cell)}"}
    other = _start(row, "--tier", "subprocess")
    same = _same(cell, other)
    why = "" if same else _difference(cell, other)
    row["streams"] += [other.get("stdout", "")[:_KEPT], other.get("stderr", "")[:_KEPT]]
    return row | {"subprocess": _brief(other), "same": "yes" if same else "no", "why": why}


def _brief(report):
    if "exit_code" in report:
        return f"exit {report['exit_code']}"
    return report.get("limit") or report.get("outcome", "?")


def _missing(report):
    found = re.findall(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'", report.get("stderr", ""))
    return found[-1] if found else None


def plain(text):
    """Without what differs between versions of argparse: where it breaks lines, and `-o X, --out X` or `-o, --out X`."""
    text = re.sub(r"/tmp/tmp\w+/[^/\s]+|/skills/[^/\s]+", "FOLDER", text)
    text, before = " ".join(text.split()), None
    while text != before:
        text, before = re.sub(r"(-[\w-]+) (\{[^}]*\}|[^\s,][^,]*?), (--?[\w-]+) \2(?=[\s,]|$)", r"\1, \3 \2", text), text
    return re.sub(r"\s+|[][()|]", "", text)


def _same(one, other):
    ends = [(report.get("exit_code"), plain(report.get("stdout", "")), plain(report.get("stderr", ""))) for report in (one, other)]
    return one.get("exit_code") is not None and ends[0] == ends[1]


def _difference(one, other):
    last = [((report.get("stderr") or "").strip().splitlines() or [""])[-1][:140] for report in (one, other)]
    if one.get("exit_code") == other.get("exit_code"):
        return f"other text: {last[0]!r}, {last[1]!r}" if last[0] != last[1] else "other text"
    return f"cell: {_brief(one)} {last[0]}; subprocess: {_brief(other)} {last[1]}"


def start_all(work, limit):
    rows = [row for row in json.loads((work / "scripts.json").read_text()) if row["parser"]]
    # In an order of chance, so that a part of it stands for the whole; those that need packages last, which take minutes.
    random.Random(15).shuffle(rows)
    rows.sort(key=lambda row: bool(row["imports"]))
    done = {line["sha256"] for line in _lines(work / "help.jsonl")}
    todo = [row for row in rows[:limit] if row["sha256"] not in done]
    with concurrent.futures.ThreadPoolExecutor(2) as pool, open(work / "help.jsonl", "a") as out:
        for row in pool.map(help_of, todo):
            print(json.dumps(row), file=out, flush=True)
    _tell(work)


#: What a script is started with for a real run: its own folder, its own text, nothing. The first that it ends well with counts.
_INPUTS = (["."], ["SKILL.md"], [], ["--input", "SKILL.md"], ["validate", "SKILL.md"])


def run_of(row):
    """A run with an input that the script takes, in a cell and in a process: exit code, streams and files are compared."""
    for args in _INPUTS:
        with tempfile.TemporaryDirectory() as out:
            cell = _start(row, "--out", out, args=args)
            files = _files(out)
        if cell.get("exit_code") == 0 and (cell.get("stdout", "").strip() or files):
            break
    else:
        return None
    with tempfile.TemporaryDirectory() as out:
        other = _start(row, "--tier", "subprocess", "--out", out, args=args)
        others = _files(out)
    ends = [(one.get("exit_code"), _timeless(one.get("stdout", "")), _timeless(one.get("stderr", ""))) for one in (cell, other)]
    names = [name for name in sorted(files.keys() | others.keys()) if files.get(name) != others.get(name)]
    parts = [part for part, one, two in zip(("exit code", "stdout", "stderr"), *ends) if one != two]
    why = ", ".join(parts + names)
    streams = [one.get(name, "")[:_KEPT] for one in (cell, other) for name in ("stdout", "stderr")]
    return row | {"args": args, "files": sorted(files), "same": "no" if why else "yes", "why": why, "streams": streams}


def _files(folder):
    found = (path for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): _timeless(path.read_bytes().decode("utf-8", "replace")) for path in found}


def _timeless(text):
    """Without the places and times that two runs can't share."""
    text = re.sub(r"/tmp/tmp\w+/[^/\s\"']+|/skills/[^/\s\"']+", "FOLDER", text)
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?", "TIME", text)


def run_all(work, limit):
    rows = [row for row in json.loads((work / "scripts.json").read_text()) if row["class"] in ("standard library", "packages")]
    random.Random(15).shuffle(rows)
    rows.sort(key=lambda row: bool(row["imports"]))
    done = _lines(work / "runs.jsonl")
    seen = {line["sha256"] for line in done}
    todo, count = [row for row in rows if row["sha256"] not in seen], sum("args" in line for line in done)
    with concurrent.futures.ThreadPoolExecutor(2) as pool, open(work / "runs.jsonl", "a") as out:
        for start in range(0, len(todo), 4):
            if count >= (limit or 60):
                break
            for row, ran in zip(todo[start:], pool.map(run_of, todo[start : start + 4])):
                print(json.dumps(ran or {"sha256": row["sha256"]}), file=out, flush=True)
                count += ran is not None
    _count("same", [line for line in _lines(work / "runs.jsonl") if "args" in line])


def _lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _count(key, rows):
    for name, count in collections.Counter(row[key] for row in rows).most_common():
        print(f"{count:6} {100 * count / len(rows):5.1f} %  {name}")


def _tell(work):
    rows = [_compared_again(line) for line in _lines(work / "help.jsonl")]
    compared = [row for row in rows if row["same"]]
    print(f"{len(rows)} scripts with a command line; {len(rows) - len(compared)} lack a module in a cell")
    _count("same", compared)


def _compared_again(row):
    """By the streams that were kept: what counts as the same may have been thought over since."""
    if row["same"] != "no" or not row["why"].startswith("other text"):
        return row
    same = [plain(text) for text in row["streams"][:2]] == [plain(text) for text in row["streams"][2:]]
    return row | {"same": "yes", "why": ""} if same else row


def table(work):
    ran = {line["sha256"]: _compared_again(line) for line in _lines(work / "help.jsonl")}
    rows = [row | ran.get(row["sha256"], {}) for row in json.loads((work / "scripts.json").read_text())]
    with open(TABLE, "w") as out:
        print("\t".join(COLUMNS), file=out)
        for row in sorted(rows, key=lambda row: (row["package"], row["skill"], row["script"])):
            cells = [" ".join(row["imports"]) if name == "imports" else str(row.get(name, "")) for name in COLUMNS]
            print("\t".join(" ".join(cell.split()).encode("ascii", "backslashreplace").decode() for cell in cells), file=out)
    _count("class", rows)
    _tell(work)
    runs = [line for line in _lines(work / "runs.jsonl") if "args" in line]
    with open(RUNS, "w") as out:
        print("package\tskill\tscript\tsha256\targuments\tfiles\tsame\twhy", file=out)
        for row in sorted(runs, key=lambda row: (row["package"], row["skill"], row["script"])):
            cells = [row["package"], row["skill"], row["script"], row["sha256"], shlex.join(row["args"]), " ".join(row["files"]), row["same"], row["why"]]
            print("\t".join(" ".join(cell.split()).encode("ascii", "backslashreplace").decode() for cell in cells), file=out)
    if runs:
        print(f"{len(runs)} real runs")
        _count("same", runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["lay", "help", "runs", "table"])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--limit", type=int, default=None, help="only so many scripts, in an order of chance")
    args = parser.parse_args()
    {
        "lay": lambda: lay(args.work),
        "help": lambda: start_all(args.work, args.limit),
        "runs": lambda: run_all(args.work, args.limit),
        "table": lambda: table(args.work),
    }[args.step]()


if __name__ == "__main__":
    main()
