"""The image of test cells: pytest and its plugins, imported, and used once so that what they make lazily is made."""

import contextlib
import io
import os
import shutil
import sys
import tempfile

from skillcell_guest import bake

_SAMPLE = """
import asyncio
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_it(n, tmp_path, monkeypatch, capsys, mocker):
    (tmp_path / "file").write_text("text")
    monkeypatch.setenv("A", "b")
    print("printed")
    assert capsys.readouterr().out == "printed\\n"
    mocker.patch("os.getcwd", return_value="/")

@pytest.mark.asyncio
async def test_later():
    await asyncio.sleep(0)

@pytest.mark.xfail
def test_not():
    assert {"a": [1, 2]} == {"a": [1, 3]}
"""


def image(packages):
    """Reports the address of the function that a test run enters. `packages` is where pytest lies."""
    bake._report(lambda: _prepare(packages))


def _prepare(packages):
    sys.path.append(packages)
    from skillcell_guest.testing import run

    _rehearse(run)
    return {"entry": id(run.enter)}


def _rehearse(run):
    before, environment, here = set(sys.modules), dict(os.environ), os.getcwd()
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "test_sample.py"), "w", encoding="utf-8") as file:
        file.write(_SAMPLE)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = run.pytest_run(run.arguments(folder, "test_sample.py", color=True), [])
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(environment)
        # An image holds no files.
        for name in os.listdir("/tmp"):
            shutil.rmtree(os.path.join("/tmp", name), ignore_errors=True)
    if status:
        raise RuntimeError(f"pytest does not work in this runtime:\n{printed.getvalue()}")
    for name in set(sys.modules) - before:
        if name == "test_sample":
            del sys.modules[name]
    sys.path[:] = [place for place in sys.path if place != folder]
