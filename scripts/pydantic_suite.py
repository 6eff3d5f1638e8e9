#!/usr/bin/env python3
"""pydantic's own tests in cells of the second runtime, on the real pydantic-core, held against the same tests natively.

    scripts/pydantic_suite.py [--work DIR] [--python PYTHON] [--skillcell PROGRAM] [--jobs N] [--again] [FILE ...]

Fetches pydantic's source archive with pip, by version and sha256, and lays its tests out as a skill: as they are, but for those of
other programs (`LEFT_OUT`). They run natively in a venv and with `skillcell test`, a cell for each file, and are compared by their
ids. What passes natively and fails in a cell is printed with its reason (`REASONS`); exit code 1 if it is more than one in a hundred, or
one has no reason. FILE (`tests/test_main.py`) narrows it; `--again` takes results that are in DIR.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

VERSION = "2.14.3"
SHA256 = "1054f237f4d4733e5a30e1e2333bd33a2004ab9ab1510bd053a9a31bb48e232d"
#: What the tests import beside pydantic. pytest and pytest-mock are `skillcell test`'s own.
NEEDED = ["dirty-equals", "faker", "pytz", "email-validator", "jsonschema", "cloudpickle", "pytest-run-parallel"]
PYTEST = ["pytest==9.2.0", "pytest-mock==3.17.0"]
#: Measurements, type checkers, a plugin that is to be installed, and documentation that is not in the archive.
LEFT_OUT = ["benchmarks", "mypy", "typechecking", "plugin", "test_docs.py"]
#: By the beginning of a test's id: why it fails in a cell and not natively.
NAME = "CPython 3.14 writes the union in the test's id otherwise; under that id it passes"
REASONS = {
    "tests/test_edge_cases.py::test_field_type_display[Optional-Union": NAME,
    "tests/test_json_schema.py::test_list_union_dict[field_type": NAME,
    "tests/test_json_schema.py::test_str_basic_types[field_type": NAME,
    "tests/test_json_schema.py::test_non_serializable_default[type_1-": NAME,
    "tests/test_json_schema.py::test_enforced_constraints[annotation1-": NAME,
    "tests/test_pickle.py::test_cloudpickle_model_with_defs": "starts another Python; a cell has no processes",
}

MANIFEST = "name: pydantic_suite\nversion: 0.1.0\ndescription: pydantic's own tests\nrequirements:\n"
SKILL = """from skillware.core.base_skill import BaseSkill


class Suite(BaseSkill):
    @property
    def manifest(self):
        return {}

    def execute(self, params):
        return None
"""
#: Of its pyproject.toml, without the options of the plugin that measures.
SETTINGS = """[pytest]
strict = true
filterwarnings =
    error
    ignore:path is deprecated.*:DeprecationWarning:
markers =
    skip_json_schema_validation: as there
    timeout: as there
"""
#: A plugin that writes down how each test ended.
NOTES = """import json, os


def pytest_runtest_logreport(report):
    with open(os.environ["SUITE_NOTES"], "a") as file:
        print(json.dumps([report.nodeid, report.when, report.outcome, hasattr(report, "wasxfail")]), file=file)
"""


def run(command, **more):
    print("$", *command, file=sys.stderr)
    return subprocess.run(command, **more)


def lay_out(work):
    """The skill's folder."""
    skill = work / "pydantic_suite"
    if skill.exists():
        return skill
    pinned = work / "pinned.txt"
    pinned.write_text(f"pydantic=={VERSION} --hash=sha256:{SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "pydantic"]
    run([*pip, "--require-hashes", "--dest", str(work), "--requirement", str(pinned)], check=True)
    root = f"pydantic-{VERSION}"
    with tarfile.open(work / f"{root}.tar.gz") as archive:
        tests = [member for member in archive.getmembers() if member.name.startswith(f"{root}/tests/")]
        archive.extractall(work, tests, filter="data")
    for name in LEFT_OUT:
        path = work / root / "tests" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    skill.mkdir()
    shutil.move(work / root / "tests", skill / "tests")
    (skill / "manifest.yaml").write_text(MANIFEST + "".join(f"  - {it}\n" for it in [f"pydantic=={VERSION}", *NEEDED]))
    (skill / "skill.py").write_text(SKILL)
    (skill / "pytest.ini").write_text(SETTINGS)
    return skill


def natively(skill, work, python, files):
    """Outcomes by id."""
    notes, venv = work / "native.jsonl", work / "venv"
    if not (venv / "done").exists():
        run([python, "-m", "venv", str(venv)], check=True)
        pip = [str(venv / "bin/pip"), "install", "--quiet", f"pydantic=={VERSION}"]
        run([*pip, *PYTEST, *NEEDED], check=True)
        (venv / "done").touch()
    (work / "suite_notes.py").write_text(NOTES)
    notes.unlink(missing_ok=True)
    environment = os.environ | {"SUITE_NOTES": str(notes), "PYTHONPATH": str(work), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(venv / "bin/python"), "-m", "pytest", "-q", "-p", "suite_notes", "-p", "no:cacheprovider"]
    # A process for each file, as a cell is: some tests pass only after those of another file.
    files = files or sorted(str(it.relative_to(skill)) for it in (skill / "tests").rglob("test_*.py"))
    for file in files:
        run([*command, file], cwd=skill, env=environment, stdout=sys.stderr)
    return read_notes(notes)


def read_notes(notes):
    found = {}
    for line in notes.read_text().splitlines():
        name, when, outcome, expected = json.loads(line)
        if when == "call" or outcome != "passed":
            found[name] = {"skipped": "xfailed", "passed": "xpassed"}.get(outcome, outcome) if expected else outcome
    return found


def in_cells(skill, work, program, jobs, files):
    """The report of `skillcell test`."""
    report = work / "cells.json"
    command = [program, "test", str(skill), *files, "--runtime", "pyodide", "--json", "--timeout", "1800"]
    with report.open("w") as out:
        run([*command, "--memory", "1G", "--jobs", str(jobs)], stdout=out)
    return json.loads(report.read_text())


def reason_of(name):
    fitting = [start for start in REASONS if name.startswith(start)]
    return REASONS[max(fitting, key=len)] if fitting else None


def compare(native, report):
    cells = {test["id"]: test for file in report["files"] for test in file["tests"]}
    passed = [name for name, outcome in native.items() if outcome == "passed"]
    outcomes = Counter(cells[name]["outcome"] if name in cells else "not there" for name in passed)
    print(f"natively: {dict(Counter(native.values()))}")
    print(f"in cells: {dict(Counter(test['outcome'] for test in cells.values()))}")
    print(f"what passes natively, in cells: {dict(outcomes)}")
    for error in (error for file in report["files"] for error in file["errors"]):
        print(f"outside of tests: {error}")
    skipped = Counter(cells[name]["reason"] for name in passed if name in cells and cells[name]["outcome"] == "skipped")
    for why, count in skipped.most_common():
        print(f"skipped by the tests' own word: {count} × {why}")
    failed = [name for name in passed if name not in cells or cells[name]["outcome"] not in ("passed", "skipped", "xfailed")]
    for name in failed:
        error = (cells.get(name) or {}).get("error") or {}
        print(f"{name}: {error.get('type')}: {str(error.get('message'))[:200]!r}\n    {reason_of(name) or 'NO REASON'}")
    print(f"{len(failed)} of {len(passed)} fail in cells: {100 * len(failed) / max(1, len(passed)):.2f} %")
    return len(failed) * 100 <= len(passed) and all(map(reason_of, failed))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("target/pydantic-suite"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--skillcell", default="target/release/skillcell")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    work = given.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    skill = lay_out(work)
    if given.again:
        native, report = read_notes(work / "native.jsonl"), json.loads((work / "cells.json").read_text())
    else:
        native = natively(skill, work, given.python, given.files)
        report = in_cells(skill, work, os.path.abspath(given.skillcell), given.jobs, given.files)
    sys.exit(0 if compare(native, report) else 1)


if __name__ == "__main__":
    main()
