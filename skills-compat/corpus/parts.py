"""The second study in parts, one for each skill, so that what is done stays done:

    python3 parts.py study FOLDER --skillcell PROGRAM --python PYTHON      studies what has no part yet; may be ended and started again, and run twice at once
    python3 parts.py join FOLDER --skillcell PROGRAM                       joins the parts into matrix/ and the tables of the document

FOLDER is what `lay.py` made. Skills are taken in an order that is drawn with a seed, so that a study that did not get to its end is a sample: its first so many.
`study --runs` does those that recorded runs are of, for more of these; `join` counts the sample for itself. A skill that is not done in time is late: it
has no part, and is named.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "security" / "agent-skills.md"
SEED = 15


def in_order(work):
    """All skills by their ids, in the order that is drawn."""
    skills = sorted(str(path.parent.relative_to(work / "skills")) for path in (work / "skills").rglob("SKILL.md"))
    random.Random(SEED).shuffle(skills)
    return skills


def part_of(work, skill):
    return work / "parts" / (skill.replace("/", "--") + ".json")


def study(asked):
    skills = in_order(asked.work)
    if asked.runs:
        have_runs = {case["skill"] for case in json.loads((HERE / "runs" / "cases.json").read_text())}
        skills = [skill for skill in skills if skill in have_runs]
    (asked.work / "parts").mkdir(exist_ok=True)
    for number, skill in enumerate(skills, 1):
        part = part_of(asked.work, skill)
        taken = part.with_suffix(".taken")
        try:
            taken.touch(exist_ok=False)  # by another one, or earlier
        except FileExistsError:
            continue
        done = False
        try:
            done = _study_one(asked, skill, part)
        finally:
            if not done:
                taken.unlink()
        print(f"{number}/{len(skills)} {skill}: {'over' if done else 'not done'}", flush=True)


def _study_one(asked, skill, part):
    command = [asked.skillcell, "matrix", str(asked.work / "skills"), "--skill", skill, "--subprocess", "--no-native", "--no-latency", "--jobs", "1", "--json",
               "--parity", str(HERE / "runs")]  # fmt: skip
    environment = dict(os.environ, SKILLCELL_PYTHON=asked.python)
    try:
        ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=asked.seconds)
    except subprocess.TimeoutExpired:
        part.with_suffix(".late").touch()
        return True
    if ended.returncode == 0:
        part.write_bytes(ended.stdout)
    return ended.returncode == 0


def join(asked):
    skills = in_order(asked.work)
    done = [skill for skill in skills if part_of(asked.work, skill).exists()]
    parts = [argument for skill in done for argument in ("--from", str(part_of(asked.work, skill)))]
    command = [asked.skillcell, "matrix", *parts, "--parity", str(HERE / "runs"), "--out", str(HERE / "matrix"), "--docs", str(DOCUMENT)]
    subprocess.run(command, check=True)
    late = [skill for skill in skills if part_of(asked.work, skill).with_suffix(".late").exists()]
    first = next((at for at, skill in enumerate(skills) if skill not in done + late), len(skills))
    print(f"{len(done)} of {len(skills)} skills; of the order that was drawn the first {first}, but for {late}:")
    _count_usages(asked.work, [skill for skill in skills[:first] if skill not in late])


def _count_usages(work, skills):
    capable = compared = same = 0
    for skill in skills:
        for script in json.loads(part_of(work, skill).read_text())["skills"][0].get("scripts", ()):
            usage = script.get("usage")
            # As `ScriptTotals` counts.
            if usage and script["verdict"] and not script.get("lacks") and script["kind"] != "not Python 3":
                capable += 1
                compared += usage.get("same") is not None
                same += usage.get("same") is True
    print(f"  of {capable} scripts with a command line that a cell is capable of, {compared} compared, {same} the same")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["study", "join"])
    parser.add_argument("work", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--skillcell", default="skillcell")
    parser.add_argument("--python", default="python3", help="of the other side (default: %(default)s)")
    parser.add_argument("--runs", action="store_true", help="only skills that recorded runs are of")
    parser.add_argument("--seconds", type=int, default=900, help="for one skill (default: %(default)s)")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # with what was taken given back
    (study if asked.what == "study" else join)(asked)


if __name__ == "__main__":
    main()
