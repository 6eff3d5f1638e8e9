"""Tells the host of each test as it happens, so that a cell that is ended from outside has said how far it came."""

import json
import os

import pytest

from skillcell_guest import door, failure

#: A message beyond this is cut: pytest's own text has it whole.
_LONGEST = 4000
#: Names of tests in one frame; the host takes frames up to 1 MiB.
_AT_ONCE = 100
_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode


def _tell(**event):
    door.send(door.TEST, _encode(event).encode())


class Reporter:
    def __init__(self, width):
        self._width = width
        self._phases = []
        self._folder = "/"

    def pytest_configure(self, config):
        self._folder = str(config.rootpath)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session):
        terminal = session.config.get_terminal_writer()
        if self._width:
            terminal.fullwidth = self._width

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        try:
            made = yield
        except BaseException as error:  # pytest itself stops at this: `sys.exit` in the file
            _tell(broken={"id": _text(collector.nodeid), "error": self._cause(error)})
            raise
        attempt = getattr(made, "call", None)
        caught = attempt.excinfo if attempt is not None else None
        if made.failed:
            _tell(broken={"id": _text(made.nodeid), "error": self._failure(caught, made)})
        elif made.skipped and caught is not None:
            _tell(finished={"id": _text(made.nodeid), "outcome": "skipped", "ms": 0, "reason": _reason(caught)})
        return made

    def pytest_collection_finish(self, session):
        names = [_text(item.nodeid) for item in session.items]
        for start in range(0, len(names), _AT_ONCE):
            _tell(collected=names[start : start + _AT_ONCE])

    def pytest_runtest_logstart(self, nodeid):
        self._phases = []
        _tell(started=_text(nodeid))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        made = yield
        self._phases.append((made, call.excinfo))
        return made

    def pytest_runtest_logfinish(self, nodeid):
        event = {"id": _text(nodeid), "outcome": "passed", "ms": 0.0}
        for made, caught in self._phases:
            event["ms"] += made.duration * 1e3
            if event["outcome"] not in ("failed", "error"):
                event.update(self._verdict(made, caught))
        _tell(finished=event)

    def _verdict(self, made, caught):
        expected = getattr(made, "wasxfail", None)
        if made.failed:
            return {"outcome": "failed" if made.when == "call" else "error", "error": self._failure(caught, made)}
        if expected is not None:
            return {"outcome": "xfailed" if made.skipped else "xpassed", "reason": _text(expected)}
        if made.skipped:
            return {"outcome": "skipped", "reason": _reason(caught)}
        return {}

    def _failure(self, caught, made):
        if caught is None:
            return {"type": "Failed", "message": _text(str(made.longrepr or "")), "line": None}
        error = caught.value
        if isinstance(error, pytest.Collector.CollectError) and error.__cause__ is not None:
            error = error.__cause__
        return self._cause(error)

    def _cause(self, error):
        return {
            "type": _text(failure.type_name(error)),
            "message": _text(failure.message(error)),
            "line": self._line(error),
        }

    def _line(self, error):
        """Where it was raised: the innermost line of the skill's own files."""
        if isinstance(error, SyntaxError) and error.filename:
            return _text(f"{self._own(error.filename) or error.filename}:{error.lineno}")
        place, trace = None, error.__traceback__
        while trace is not None:
            name = self._own(trace.tb_frame.f_code.co_filename)
            place = f"{name}:{trace.tb_lineno}" if name else place
            trace = trace.tb_next
        return place and _text(place)

    def _own(self, file):
        folder = self._folder.rstrip("/") + "/"
        return os.path.normpath(file)[len(folder) :] if os.path.normpath(file).startswith(folder) else None


def _reason(caught):
    return _text(str(getattr(caught.value, "msg", None) or caught.value))


def _text(text):
    return failure._text(text)[:_LONGEST]
