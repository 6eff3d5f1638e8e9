"""What the runners make of failures, files, limits and hostile folders; each with its real framework, or skipped."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


def test_an_agent_framework_script_gets_its_folder_and_tells_how_it_ended(tmp_path: Path) -> None:
    framework = pytest.importorskip("agent_framework")
    from skillcell.runners.agent_framework import CellScriptRunner

    folder = tmp_path / "skill"
    (folder / "scripts").mkdir(parents=True)
    (tmp_path / "private").write_text("a key")
    (folder / "link.txt").symlink_to(tmp_path / "private")
    (folder / "data.txt").write_text("data")
    script = folder / "scripts" / "x.py"
    script.write_text(
        "import os, sys\nprint(sys.argv[1:], open('data.txt').read(), os.path.exists('link.txt'))\n"
        "open('new.txt', 'w').write('x')\nsys.exit(2)\n"
    )
    skill: Any = SimpleNamespace(path=str(folder))
    made = framework.FileSkillScript(name="scripts/x.py", full_path=str(script))
    said = asyncio.run(CellScriptRunner(timeout=20)(skill, made, {"flag": True, "n": 3, "none": None}))
    assert said == "['--flag', '--n', '3'] data False\n\nexit code 2\nfiles written, and gone: new.txt"
    assert sorted(path.name for path in folder.iterdir()) == ["data.txt", "link.txt", "scripts"]
    shell = framework.FileSkillScript(name="x.sh", full_path=str(folder / "x.sh"))
    assert "no Python script" in asyncio.run(CellScriptRunner()(skill, shell))


def test_adk_gets_files_exit_codes_and_limits() -> None:
    pytest.importorskip("google.adk")
    from google.adk.code_executors.code_execution_utils import CodeExecutionInput, File

    from skillcell.runners.adk import CellCodeExecutor

    def execute(code: str, **more: Any) -> Any:
        given = CodeExecutionInput(code=code, input_files=[File(name="a.csv", content=b"1,2\n")])
        context: Any = None
        return CellCodeExecutor(**more).execute_code(context, given)

    ran = execute("print(open('a.csv').read())\nopen('b.png', 'wb').write(b'\\x89')")
    assert (ran.stdout, ran.exit_code) == ("1,2\n\n", 0)
    assert [(one.name, one.content, one.mime_type) for one in ran.output_files] == [("b.png", b"\x89", "image/png")]
    assert execute("raise SystemExit(7)").exit_code == 7
    ended = execute("print('begun', flush=True)\nwhile True: pass", timeout_seconds=1)
    assert ended.exit_code == 124 and ended.stdout == "begun\n" and "deadline" in ended.stderr


def test_smolagents_keeps_names_between_steps_and_nothing_else() -> None:
    pytest.importorskip("smolagents")
    from skillcell.runners.smolagents import CellPythonExecutor, StepError

    executor = CellPythonExecutor(timeout=20)
    with pytest.warns(UserWarning, match="JSON values only: class, nothing, odd"):
        executor.send_variables({"given": [1, {"a": None}], "odd": object(), "nothing": [math.nan], "class": 1})
    executor("import math\nclass Point:\n    def __init__(self, x):\n        self.x = x\np = Point(given[0])")
    first = executor("def double(n):\n    return 2 * n\nprint('said')\ndouble(p.x) + math.floor(0.5)")
    assert (first.output, first.logs, first.is_final_answer) == (2, "said\n", False)
    with pytest.raises(StepError, match="ZeroDivisionError"):
        executor("q = 1\n1 / 0")
    assert executor("p.x + q").output == 2
    assert executor("steps = iter([1, 2])\nnext(steps)").output == 1
    assert executor("next(steps)").output == 2
    last = executor("final_answer({'x': p.x})")
    assert (last.output, last.is_final_answer) == ({"x": 1}, True)
    with pytest.raises(StepError, match="NameError"):
        executor("odd")
    executor.cleanup()
    with pytest.raises(StepError, match="NameError"):
        executor("p")


def test_smolagents_begins_anew_after_a_limit_with_its_tools() -> None:
    smolagents = pytest.importorskip("smolagents")
    from skillcell import Exceeded
    from skillcell.runners.smolagents import CellPythonExecutor, StepError

    tool: Any = smolagents.tool

    @tool  # type: ignore[untyped-decorator, unused-ignore]
    def doubles(n: int) -> int:
        """Doubles.

        Args:
            n: What to double.
        """
        return 2 * n

    executor = CellPythonExecutor(timeout=1)
    executor.send_tools({"doubles": doubles})
    executor("x = doubles(4)")
    with pytest.raises(Exceeded):
        executor("while True: pass")
    assert executor("doubles(5)").output == 10
    with pytest.raises(StepError, match="NameError"):
        executor("x")


def test_litellm_runs_code_and_tells_of_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    pytest.importorskip("litellm")
    from skillcell.runners.litellm import CellSandbox

    async def run(code: str, timeout: int | None = None) -> Any:
        sandbox = CellSandbox()
        container = await sandbox.acreate_sandbox(timeout=timeout)
        try:
            return await sandbox.arun_code(container=container, code=code)
        finally:
            assert await sandbox.adelete_sandbox(container=container)

    assert asyncio.run(run("print(1)")).stdout == "1\n"
    assert asyncio.run(run("1/0")).error["value"] == "exit code 1"
    assert asyncio.run(run("while True: pass", timeout=1)).error["name"] == "Exceeded"
