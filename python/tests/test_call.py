"""Calls, what they take and what comes of them."""

from __future__ import annotations

import contextlib
import http.server
import json
import math
import pickle
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import WORKER, Do

import skillcell


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1.5,
        10**40,
        "é \N{SNOWMAN} \U0001f600 \x00 \"'\\",
        [],
        {},
        {"a": [1, {"b": None}], "ü": "x"},
        0.1 + 0.2,
        1e308,
        [[[[[[1]]]]]],
    ],
)
def test_what_goes_in_comes_out(do: Do, value: Any) -> None:
    report = do("echo", value=value)
    assert report.result == value
    assert report.result is report.result
    assert json.loads(report.result_json or "") == value
    assert report.ok and report.outcome == "returned" and report.raise_for_outcome() is report


def test_a_long_result_is_what_json_makes_of_it(do: Do) -> None:
    some: list[Any] = [
        None,
        True,
        False,
        0,
        -7,
        2**63,
        -(10**30),
        1.5,
        -2.5e-7,
        1e22,
        "",
        'a"b\\\n\u2028é\U0001f600',
        [],
        {},
        [[{"k": []}]],
    ]
    rows = [{"id": n, "some": some, "text": "x" * 50, "a\nb": n / 3} for n in range(500)]
    report = do("echo", value=rows)
    assert report.result_json is not None and len(report.result_json) > 1 << 16
    assert report.result == rows == json.loads(report.result_json)
    assert [type(one) for one in report.result[0]["some"]] == [type(one) for one in some]
    # Keys are shared, as `json` does.
    assert next(iter(report.result[0])) is next(iter(report.result[1]))
    deep: Any = "x" * (1 << 16)
    for _ in range(100):
        deep = [deep]
    assert do("echo", value=deep).result == deep


def test_half_a_surrogate_pair_is_no_json_from_the_skill_either(host: skillcell.Host, tmp_path: Path) -> None:
    report = host.call(write_skill(tmp_path / "surrogate", "return '\\ud800x'"))
    with pytest.raises(skillcell.Raised, match="ResultNotJSON"):
        _ = report.result


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {1, 2}, b"x", "\ud800"])
def test_what_is_not_json_is_refused_before_the_call(do: Do, value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        do("echo", value=value)


def test_params_that_nest_too_deeply_are_an_error_and_the_next_call_works(do: Do) -> None:
    deep: list[Any] = []
    for _ in range(500):
        deep = [deep]
    with pytest.raises((ValueError, RecursionError)):
        do("echo", value=deep)
    assert do("echo", value=1).result == 1


def test_an_exception_of_the_skill_is_raised_by_result_with_its_data(do: Do) -> None:
    report = do("raise", message="no\x1b[31m")
    assert (report.outcome, report.ok, report.result_json) == ("raised", False, None)
    with pytest.raises(skillcell.Raised) as caught:
        _ = report.result
    raised = caught.value
    assert (raised.type, raised.message) == ("ValueError", "no\x1b[31m")
    assert "do_raise" in raised.traceback and raised.report is report
    assert "\x1b" not in str(raised) and "\x1b" not in "".join(raised.__notes__) and "\x1b" not in repr(report)
    with pytest.raises(skillcell.Raised):
        report.raise_for_outcome()


def test_a_limit_is_raised_with_its_name(do: Do) -> None:
    with pytest.raises(skillcell.Exceeded) as caught:
        _ = do("spin", options={"timeout": 0.2}).result
    assert caught.value.limit == "deadline" and caught.value.error is None
    with pytest.raises(skillcell.Exceeded) as caught:
        _ = do("big", length=5000, options={"max_result": "1K"}).result
    assert caught.value.limit == "result_bytes"
    assert do("echo", value=1).result == 1


@pytest.mark.parametrize("timeout", [5, 5.0, "5s", "5000ms", timedelta(seconds=5)])
def test_a_time_is_written_in_many_ways(host: skillcell.Host, timeout: Any) -> None:
    limits = host.plan(WORKER, {"action": "echo"}, timeout=timeout).envelope()["limits"]
    assert limits["deadline_ms"] == 5000


def test_a_crash_of_the_cell_is_told_and_harms_nothing(do: Do) -> None:
    with pytest.raises(skillcell.Crashed):
        _ = do("abort").result
    assert do("echo", value=1).result == 1


def test_a_refusal_has_its_denials(host: skillcell.Host, tmp_path: Path) -> None:
    skill = write_skill(
        tmp_path / "wants", "return 1", manifest="permissions:\n  network:\n    - https://example.org/\n"
    )
    report = host.call(skill)
    if report.outcome == "returned":
        pytest.fail(f"it was not refused: {report.envelope()}")
    with pytest.raises(skillcell.Refused) as caught:
        _ = report.result
    assert caught.value.denials and caught.value.denials[0].message
    assert host.plan(skill).state == "refused"


def test_what_was_denied_while_it_ran_is_in_the_report(do: Do) -> None:
    report = do("fetch", url="https://example.org/")
    assert report.outcome == "raised"
    (denial,) = report.denials
    assert denial.kind == "http" and "example.org" in denial.asked and denial.hint


def test_a_folder_is_seen_only_if_it_is_granted(do: Do, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("hello")
    granted: skillcell.CallOptions = {"mounts": [f"{tmp_path}:/data"]}
    assert do("read", path="/data/note", options=granted).result == "hello"
    with pytest.raises(skillcell.Raised, match="FileNotFoundError"):
        _ = do("read", path="/data/note").result


def test_variables_are_seen_only_if_they_are_granted(do: Do, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THIS_PROCESS", "here")
    seen = do("env", options={"env": {"GIVEN": "a=b", "OF_THIS_PROCESS": None}}).result
    assert seen["GIVEN"] == "a=b" and seen["OF_THIS_PROCESS"] == "here"
    assert "OF_THIS_PROCESS" not in do("env").result
    assert do("env", options={"env": ["GIVEN=x"]}).result["GIVEN"] == "x"


def test_grants_of_a_host_hold_for_its_calls(tmp_path: Path) -> None:
    granting = skillcell.Host(env={"OF_HOST": "1"}, timeout="7s")
    seen = granting.call(WORKER, {"action": "env"}, env={"OF_CALL": "2"}).result
    assert (seen["OF_HOST"], seen["OF_CALL"]) == ("1", "2")
    assert granting.plan(WORKER, {"action": "env"}).envelope()["limits"]["deadline_ms"] == 7000


def test_a_secret_that_is_given_reaches_its_host_and_is_shown_nowhere(do: Do, tmp_path: Path) -> None:
    value, audit = "v4lue-of-the-key", tmp_path / "audit.jsonl"
    with loopback(f"you sent {value}") as (here, seen), loopback("hello") as (there, seen_there):
        secret = skillcell.Secret("SERVICE_KEY", value, f"http://{here}")
        granted: skillcell.CallOptions = {
            "allow_http": [f"http://{here}/*", f"http://{there}/*"],
            "resolve": [f"{one}:{one}" for one in (here, there)],
            "secrets": [secret],
            "audit": audit,
        }
        report = do("fetch", url=f"http://{here}/", send=["SERVICE_KEY"], options=granted)
        sent, answer = report.result
        do("fetch", url=f"http://{there}/", send=["SERVICE_KEY"], options={**granted, "secrets": secret})
    assert seen == [value] and len(seen_there) == 1 and value not in seen_there
    assert sent["SERVICE_KEY"].startswith("skillcell_secret_SERVICE_KEY_") and value not in answer
    shown = [repr(secret), json.dumps(report.envelope()), audit.read_text(), report._repr_html_()]
    assert not any(value in text for text in shown)
    assert repr(secret) == f"<Secret SERVICE_KEY for http://{here}>"
    with pytest.raises(TypeError):
        pickle.dumps(secret)


@pytest.mark.parametrize(
    ("name", "value", "hosts"),
    [("A B", "long-enough", "a.org"), ("PATH", "long-enough", "a.org"), ("KEY", "long-enough", "a.org/path")],
)
def test_a_secret_that_makes_no_sense_is_named_without_its_value(do: Do, name: str, value: str, hosts: str) -> None:
    with pytest.raises(ValueError, match="secrets") as caught:
        do("echo", options={"secrets": [skillcell.Secret(name, value, hosts)]})
    assert value not in str(caught.value)
    with pytest.raises(TypeError):
        skillcell.Secret(name, value, [])


@contextlib.contextmanager
def loopback(answer: str) -> Generator[tuple[str, list[str | None]]]:
    """A server's address, and the keys that were sent to it."""
    seen: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("SERVICE_KEY"))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        server.server_close()


def test_config_reaches_the_constructor(do: Do) -> None:
    assert do("config", options={"config": {"key": [1]}}).result == {"key": [1]}
    with pytest.raises(skillcell.HostError, match="JSON object"):
        do("config", options={"config": [1]})


def test_a_call_is_recorded_where_it_is_told_to(do: Do, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    do("echo", value=1, options={"audit": log})
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()][-1] == "end"


def test_output_is_text_and_bytes(do: Do) -> None:
    report = do("print")
    assert (report.stdout, report.stderr) == ("out", "err")
    assert (report.stdout_bytes, report.stderr_bytes) == (b"out", b"err")


def test_the_envelope_is_the_json_contract(do: Do) -> None:
    report = do("echo", value={"a": 1})
    envelope = report.envelope()
    assert (envelope["schema"], envelope["outcome"], envelope["result"]) == (1, "returned", {"a": 1})
    assert envelope["skill"] == report.skill == "worker" and envelope["tier"] == report.tier == "wasm"
    usage = report.usage
    assert usage.wall_ms > 0 and usage.memory_peak_bytes > 1 << 20 and usage.host_calls > 0 and usage.fuel is None


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"no_such_option": 1}, TypeError),
        ({"timeout": -1}, ValueError),
        ({"timeout": object()}, TypeError),
        ({"memory": "lots"}, ValueError),
        ({"memory": -1}, ValueError),
        ({"tier": "moon"}, ValueError),
        ({"allow_http": ["not a rule at all"]}, ValueError),
        ({"mounts": "no-colon"}, ValueError),
        ({"env": {"A=B": "x"}}, ValueError),
        ({"env": {"PATH": "/"}}, ValueError),
        ({"acknowledge": ["nonsense"]}, ValueError),
    ],
)
def test_an_option_that_makes_no_sense_is_named(host: skillcell.Host, options: Any, error: Any) -> None:
    with pytest.raises(error, match=next(iter(options))):
        host.call(WORKER, {"action": "echo"}, **options)


def test_a_skill_that_is_not_there_is_an_error_of_the_host_with_a_hint(host: skillcell.Host) -> None:
    with pytest.raises(skillcell.HostError) as caught:
        host.skill("no/such_skill")
    assert caught.value.hint and f"hint: {caught.value.hint}" in caught.value.__notes__
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.hint) == (str(caught.value), caught.value.hint)
    with pytest.raises(TypeError):
        host.skill(3)  # type: ignore[arg-type]


def test_a_skill_is_what_was_read(host: skillcell.Host, worker: skillcell.Skill) -> None:
    assert worker.id == "worker" and len(worker.digest) >= 32
    assert sorted(worker.files) == ["manifest.yaml", "skill.py"]
    assert worker.read("skill.py") == (WORKER / "skill.py").read_bytes()
    with pytest.raises(KeyError):
        worker.read("../conftest.py")
    for named in (WORKER, str(WORKER), worker):
        assert host.call(named, {"action": "echo", "value": 1}).result == 1


def test_a_plan_says_what_a_call_would_do_and_makes_none(host: skillcell.Host, worker: skillcell.Skill) -> None:
    plan = host.plan(worker, {"action": "abort"})
    assert (plan.state, plan.tier, plan.denials) == ("planned", "wasm", [])
    assert any("tier wasm" in line for line in plan.describe())


def test_a_notebook_shows_a_report_with_everything_escaped(do: Do) -> None:
    shown = do("raise", message="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "ValueError" in shown
    assert "https://example.org" in do("fetch", url="https://example.org/")._repr_html_()


def test_threads_call_at_once(do: Do) -> None:
    with ThreadPoolExecutor(8) as threads:
        reports = [threads.submit(do, "echo", value=n) for n in range(200)]
        assert [report.result().result for report in reports] == list(range(200))


def test_other_threads_run_while_a_call_does(do: Do) -> None:
    ran = threading.Event()

    def wait() -> None:
        do("sleep", seconds=0.5)
        ran.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert do("echo", value=1).result == 1 and not ran.is_set()
    waiting.join()
    assert ran.is_set()


def test_a_session_keeps_the_skills_instance_until_it_is_closed(do: Do) -> None:
    with skillcell.Session(idle="1m", lifetime=600) as session:
        counts = [do("count", options={"session": session}).result for _ in range(3)]
        assert counts == [1, 2, 3] and do("count").result == 1 and session.ended is None
    assert session.ended == "it was closed"
    with pytest.raises(skillcell.Refused):
        _ = do("count", options={"session": session}).result


def test_a_crash_ends_a_session_and_no_other(do: Do) -> None:
    broken, other = skillcell.Session(), skillcell.Session()
    do("count", options={"session": other})
    do("abort", options={"session": broken})
    assert broken.ended is not None and other.ended is None
    assert do("count", options={"session": other}).result == 2


def write_skill(folder: Path, body: str, manifest: str = "") -> Path:
    folder.mkdir()
    (folder / "manifest.yaml").write_text(
        f"name: {folder.name}\nversion: 0.1.0\ndescription: x\nparameters: {{type: object}}\n{manifest}"
    )
    (folder / "skill.py").write_text(
        "from skillware.core.base_skill import BaseSkill\n"
        "class It(BaseSkill):\n"
        "    manifest = property(lambda self: {'name': 'it'})\n"
        "    def execute(self, params):\n"
        f"        {body}\n"
    )
    return folder
