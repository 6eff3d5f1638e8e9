"""A pytest plugin for runs outside of cells: one line of JSON for each test, into the file that SKILLCELL_TEST_REPORT names.

It stands beside `skillcell_guest/testing/report.py`, which tells the same of tests in cells through the door.
"""

import json
import os

_LONGEST = 2000


def _write(**event):
    with open(os.environ["SKILLCELL_TEST_REPORT"], "a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")


def _why(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr or "")
    if isinstance(report.longrepr, tuple):
        text = str(report.longrepr[2])
    return text.strip()[-_LONGEST:] if crash is None else text[:_LONGEST]


def pytest_collectreport(report):
    if report.failed:
        _write(id=report.nodeid, outcome="error", why=_why(report), collecting=True)


_worst = {}


def pytest_runtest_logreport(report):
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "skipped" if report.skipped else "passed"
    elif report.failed and report.when != "call":
        outcome = "error"
    before = _worst.get(report.nodeid, ("passed", ""))
    if outcome != "passed" and before[0] not in ("failed", "error"):
        _worst[report.nodeid] = (outcome, _why(report))
    if report.when == "teardown":
        outcome, why = _worst.pop(report.nodeid, ("passed", ""))
        _write(id=report.nodeid, outcome=outcome, why=why)
