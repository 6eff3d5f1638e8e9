"""Reports and what they raise, taken to another process: what comes back is the same data, and unpickling runs nothing of a skill."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import WORKER, Do

import skillcell
from made_skills import write_skill

#: All that a pickle of a report or of an exception asks for.
ASKED_FOR = {
    ("skillcell._skillcell", "restore_report"),
    ("skillcell._skillcell", "restore_usage"),
    ("skillcell._errors", "HostError"),
    ("skillcell._errors", "Raised"),
    ("skillcell._errors", "Crashed"),
    ("skillcell._errors", "Refused"),
    ("skillcell._errors", "Exceeded"),
    ("skillcell.skillware.errors", "likened"),
    # Bytes, in the older protocols.
    ("__builtin__", "bytes"),
    ("_codecs", "encode"),
}


class Watched(pickle.Unpickler):
    """Tells which names a pickle asks for: it can run nothing else."""

    def __init__(self, pickled: bytes) -> None:
        super().__init__(io.BytesIO(pickled))
        self.asked: set[tuple[str, str]] = set()

    def find_class(self, module_name: str, global_name: str) -> Any:
        self.asked.add((module_name, global_name))
        return super().find_class(module_name, global_name)


def again(value: Any) -> Any:
    """What another process makes of it, by each protocol."""
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        watched = Watched(pickle.dumps(value, protocol))
        value = watched.load()
        assert watched.asked <= ASKED_FOR
    return value


def everything(report: skillcell.Report) -> list[Any]:
    return [
        report.envelope(),
        report.result_json,
        report.stdout_bytes,
        report.stderr_bytes,
        report.files,
        report.unused_grants,
        repr(report),
        report._repr_html_(),
        repr(report.usage),
    ]


@pytest.fixture(scope="session")
def reports(do: Do, host: skillcell.Host, tmp_path_factory: pytest.TempPathFactory) -> dict[str, skillcell.Report]:
    """One of each outcome that one process can bring about."""
    asks = write_skill(
        tmp_path_factory.mktemp("asks") / "asks",
        "return 1",
        manifest="permissions:\n  network:\n    - https://example.org/\n",
    )
    ran = skillcell.run_python("open('made', 'wb').write(b'\\xff'); print('\\x9b'); raise SystemExit(3)", host=host)
    return {
        "returned": do("echo", value={"é": [1, None, 0.5, "\x00\u2028"], "big": 10**30}),
        "nested": do("nest", depth=900),
        "printed": do("print", options={"env": ["UNUSED=1"]}),
        "raised": do("raise", message="no\x1b[31m"),
        "denied": do("fetch", url="https://example.org/"),
        "refused": host.call(asks),
        "exceeded": do("spin", options={"timeout": 0.2}),
        "crashed": do("abort"),
        "program": ran.report,
    }


def test_a_report_is_the_same_in_another_process(reports: dict[str, skillcell.Report]) -> None:
    for report in reports.values():
        same = again(report)
        assert type(same) is skillcell.Report and everything(same) == everything(report)
    assert again(reports["returned"]).result == reports["returned"].result
    assert again(reports["program"]).files == {"made": b"\xff"} and again(reports["program"]).exit_code == 3
    assert everything(copy.deepcopy(reports["program"])) == everything(reports["program"])


def test_what_a_report_raises_is_the_same_in_another_process(reports: dict[str, skillcell.Report]) -> None:
    kinds = {
        "raised": skillcell.Raised,
        "crashed": skillcell.Crashed,
        "refused": skillcell.Refused,
        "exceeded": skillcell.Exceeded,
    }
    for name, kind in kinds.items():
        with pytest.raises(kind) as caught:
            _ = reports[name].result
        same = again(caught.value)
        assert type(same) is kind and str(same) == str(caught.value)
        assert getattr(same, "__notes__", []) == getattr(caught.value, "__notes__", [])
        assert everything(same.report) == everything(reports[name])
        with pytest.raises(kind):
            _ = again(reports[name]).result
    assert again(skillcell.HostError("no", "a hint")).__notes__ == ["hint: a hint"]


def test_the_parts_of_a_report_are_the_same_too(reports: dict[str, skillcell.Report]) -> None:
    def fields(part: Any) -> dict[str, Any]:
        return {name: getattr(part, name) for name in dir(part) if not name.startswith("_")}

    parts: list[Any] = [reports["raised"].error, *reports["refused"].denials, *reports["denied"].denials]
    parts += [reports["returned"].usage, skillcell.Note("stand_in", "a", "b")]
    for part in parts:
        same = copy.copy(part)
        assert type(same) is type(part) and fields(same) == fields(part) != {}
        assert fields(pickle.loads(pickle.dumps(part))) == fields(part)


def test_an_exception_that_is_also_a_built_in_one_stays_both(host: skillcell.Host) -> None:
    from skillcell.skillware.errors import result_of

    with pytest.raises(ValueError) as caught:
        result_of(host.call(WORKER, {"action": "raise"}))
    same = again(caught.value)
    assert isinstance(same, ValueError) and isinstance(same, skillcell.Raised)
    assert str(same) == str(caught.value) == "as asked" and same.report.error is not None
    with pytest.raises(TimeoutError) as late:
        result_of(host.call(WORKER, {"action": "spin"}, timeout=0.2))
    assert isinstance(again(late.value), TimeoutError) and again(late.value).limit == "deadline"


def call_here(action: dict[str, Any]) -> skillcell.Report:
    return skillcell.Host().call(WORKER, action)


def result_here(action: dict[str, Any]) -> Any:
    return call_here(action).result


@pytest.mark.parametrize("way", ["spawn", "forkserver"])
def test_pools_of_processes_return_reports_and_raise_what_was_raised(way: str) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(way)) as pool:
        returned = pool.submit(call_here, {"action": "echo", "value": [1, "x"]})
        raised = pool.submit(result_here, {"action": "raise", "message": "over there"})
        assert returned.result(120).result == [1, "x"]
        with pytest.raises(skillcell.Raised, match="over there") as caught:
            raised.result(120)
    assert caught.value.type == "ValueError" and "do_raise" in caught.value.traceback


def test_a_skill_that_writes_pickles_into_its_report_runs_nothing(do: Do, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return open, (str(tmp_path / "mark"), "w")

    bomb = pickle.dumps(Bomb(), 0).decode()
    report = do("raise", message=bomb)
    assert again(report).error.message == bomb
    assert again(do("echo", value={"__reduce__": bomb, "py/reduce": [bomb]})).result["__reduce__"] == bomb
    assert not (tmp_path / "mark").exists()
    # It is one, for whoever loads it.
    pickle.loads(bomb.encode()).close()
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"skill": 1}', "null", "[" * 100_000])
def test_what_is_no_pickled_report_is_an_error(text: str) -> None:
    from skillcell._skillcell import restore_report, restore_usage

    with pytest.raises(ValueError, match="no pickled report"):
        restore_report(text, b"", b"", {})
    with pytest.raises(ValueError, match="no pickled report"):
        restore_usage(text)


def test_what_belongs_to_a_process_is_not_pickled(host: skillcell.Host, worker: skillcell.Skill) -> None:
    for one in (host, worker, skillcell.Session(), skillcell.Secret("A", "b", "example.org"), host.plan(worker)):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(one)
