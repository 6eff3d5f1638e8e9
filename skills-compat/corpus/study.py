"""Tries `skillcell inspect` on scripts of packages that nobody prepared for it, and keeps count of how often it is right.

    python3 study.py inspect --work FOLDER   fetch, wrap, inspect; writes FOLDER/found.jsonl
    python3 study.py run --work FOLDER       a call of each in a cell, nothing granted; writes FOLDER/ran.jsonl
    python3 study.py table --work FOLDER     both beside what was judged by hand, as verdicts.tsv; prints the counts

The program is `skillcell`, or what $SKILLCELL names. Nothing of a package runs outside of a cell.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import fetch
import wrap

TABLE = pathlib.Path(__file__).with_name("verdicts.tsv")
COLUMNS = ["package", "path", "sha256", "before", "verdict", "because", "unknown", "in a cell", "right", "why"]
#: How many of those that run are called in a cell.
SAMPLE = 96
_PROGRAM = os.environ.get("SKILLCELL", "skillcell")


def scripts(work):
    """Each script once, whatever its copies: an id, its package, path, hash and folder."""
    seen = set()
    for pin, archive in fetch.archives(work / "archives"):
        found = fetch.files(pin, archive)
        for path in sorted(name for name in found if name.endswith(".py")):
            name, content = path.rpartition("/")[2], found[path]
            digest = hashlib.sha256(content).hexdigest()
            is_test = name.startswith("test_") or name in ("conftest.py", "setup.py") or "/tests/" in path
            if digest in seen or is_test or name == "__init__.py" or len(content) < 200:
                continue
            seen.add(digest)
            around = path.rpartition("/")[0] + "/"
            beside = {other.removeprefix(around): data for other, data in found.items() if other.startswith(around)}
            folder = work / "skills" / f"{pin['name'].replace('/', '_')}-{digest[:12]}"
            shutil.rmtree(folder, ignore_errors=True)
            if wrap.wrap(folder, path, content, beside):
                yield {"package": f"{pin['name']} {pin['version']}", "path": path, "sha256": digest, "folder": str(folder)}


def _json_of(arguments, seconds):
    try:
        done = subprocess.run([_PROGRAM, *arguments], capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return {"problem": f"not done after {seconds} s"}
    try:
        return json.loads(done.stdout)
    except ValueError:  # it did not get as far as a call, and says why
        said = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        return {"problem": (said or ["error: no answer"])[0]}


def inspect(script):
    about = _json_of(["inspect", script["folder"], "--json"], 300)
    found = about.get("analysis")
    if not found:
        return {**script, "verdict": "problem", "because": str(about)[:300]}
    reason = lambda one: f"{one['file']}:{one['line']} {one['text']}"  # noqa: E731
    return {
        **script,
        "verdict": found["verdict"],
        "tier": found["best_tier"],
        "because": [reason(one) for one in found["reasons"]],
        "optional": [reason(one) for one in found["optional"]],
        "unknown": [f"{one['file']}:{one['line']} {one['what']}" for one in found["unknown"]],
        "asks": found["permissions"]["value"],
        "remarks": found["permissions"]["remarks"],
    }


def run(script):
    arguments = ["run", script["folder"], "--tier", "wasm", "--json", "--timeout", "60s", "--params", "{}"]
    about = _json_of(arguments, 400)
    kept = {key: about.get(key) for key in ("outcome", "error", "result", "problem")}
    return {"sha256": script["sha256"], **kept, "said": (about.get("stdout") or "").strip()[-200:]}


def every(target, job, items):
    """One line for each, written as they come; what is there already is not done again."""
    known = {one["sha256"] for one in lines(target)}
    with concurrent.futures.ThreadPoolExecutor(3) as pool, target.open("a") as file:
        for done in pool.map(job, [item for item in items if item["sha256"] not in known]):
            file.write(json.dumps(done) + "\n")
            file.flush()


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def judged_in_cells(found):
    """All that is said not to run, or partly, or to be unknown, and a sample of the others: those whose hashes come first."""
    doubted = [one for one in found if one["verdict"] in ("not in wasm", "partly", "problem") or one.get("unknown")]
    others = sorted((one for one in found if one["verdict"].startswith("runs")), key=lambda one: one["sha256"])
    return doubted + others[:SAMPLE]


def in_a_cell(ran):
    """What became of the call, in a few words."""
    error = ran.get("error") or {}
    code = (ran.get("result") or {}).get("exit")
    ended = f"ended with {code}" if code not in (None, "0", "None") else ""
    words = [ran.get("outcome") or ran.get("problem") or "", ended, error.get("type"), (error.get("message") or "").partition("\n")[0]]
    return " ".join(word for word in words if word)[:160]


def table(found, ran, before):
    """Keeps `right` and `why`, which are a person's; everything else is made anew."""
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()[1:]] if TABLE.exists() else []
    judged = {row[2]: row[-2:] for row in rows}
    ran = {one["sha256"]: in_a_cell(one) for one in ran}
    before = {one["sha256"]: one["verdict"] for one in before} or {row[2]: row[3] for row in rows}
    plain = lambda text: " ".join(str(text).split())  # noqa: E731
    with TABLE.open("w") as file:
        file.write("\t".join(COLUMNS) + "\n")
        for one in sorted(found, key=lambda one: (one["package"], one["path"])):
            key = one["sha256"]
            because, unknown = (one.get("because") or [""])[0], "; ".join(one.get("unknown") or [])
            about = [one["package"], one["path"], key, before.get(key, ""), one["verdict"], because[:240], unknown[:160]]
            file.write("\t".join(plain(text) for text in [*about, ran.get(key, ""), *judged.get(key, ["", ""])]) + "\n")
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()[1:]]
    for name, at in (("before", 3), ("now", 4)):
        print(name, dict(collections.Counter(row[at] for row in rows)))
    print("judged", dict(collections.Counter(f"{row[4]}: {row[8]}" for row in rows if row[8])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["inspect", "run", "table"])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--before", type=pathlib.Path, help="a found.jsonl of another program, for the column `before`")
    parser.add_argument("--limit", type=int, help="inspect only so many: those whose hashes come first")
    asked = parser.parse_args()
    found, ran = asked.work / "found.jsonl", asked.work / "ran.jsonl"
    if asked.what == "inspect":
        # By hash, so that the first so many are a mix of all packages, and the same everywhere.
        every(found, inspect, sorted(scripts(asked.work), key=lambda one: one["sha256"])[: asked.limit])
        print(collections.Counter(one["verdict"] for one in lines(found)))
    elif asked.what == "run":
        every(ran, run, judged_in_cells(lines(found)))
    else:
        table(lines(found), lines(ran), lines(asked.before) if asked.before else [])


if __name__ == "__main__":
    main()
