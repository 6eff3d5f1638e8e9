"""The drop-in as an agent's program sees it: exceptions, async, contexts, chains, the patch and the command."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("skillware")

import skillware
from skillware.core.base_skill import BaseSkill
from skillware.core.loader import SkillLoader as RealLoader

from made_skills import write_skill
from skillcell import Exceeded, Raised, Refused
from skillcell.skillware import (
    IsolatedSkill,
    Isolation,
    SkillContext,
    SkillLoader,
    SkillwareParamValidationError,
    configure,
    execute_isolated,
    isolate,
)

REWRITE = {"raw_text": "Please be so kind as to help.", "compression_aggression": "high"}


def made_class(folder: Path, body: str, **more: Any) -> Any:
    isolation = more.pop("isolation", None)
    return SkillLoader.load_skill(str(write_skill(folder, body, **more)), isolation=isolation)["class"]


@pytest.mark.parametrize(
    ("raises", "like"),
    [
        ("ValueError('no')", ValueError),
        ("KeyError('no')", KeyError),
        ("FileNotFoundError(2, 'no')", OSError),
        ("ImportError('no', name='x')", ImportError),
        ("UnicodeError('no')", UnicodeError),
        ("RecursionError('no')", RuntimeError),
        ("MemoryError('no')", MemoryError),
        ("SyntaxError('no')", SyntaxError),
        ("UnicodeDecodeError('utf-8', b'x', 0, 1, 'no')", UnicodeError),
        ("__import__('json').JSONDecodeError('no', 'x', 0)", ValueError),
        ("__import__('urllib.error').error.URLError('no')", OSError),
    ],
)
def test_an_exception_is_also_what_it_was_in_the_skill(tmp_path: Path, raises: str, like: type[Exception]) -> None:
    with pytest.raises(like) as caught:
        made_class(tmp_path / "raises", f"raise {raises}")().execute({})
    assert isinstance(caught.value, Raised)
    assert str(caught.value) == str(eval(raises)) and "raises/skill.py" in caught.value.traceback


def test_a_time_out_is_a_limit_and_a_timeout_error(tmp_path: Path) -> None:
    skill = made_class(tmp_path / "loops", "while params.get('loop'): pass\nreturn 1")
    with pytest.raises(TimeoutError) as caught:
        execute_isolated(skill, {"loop": True}, timeout=0.3)
    assert isinstance(caught.value, Exceeded) and caught.value.limit == "deadline"
    assert SkillLoader.execute_isolated(skill, {}, timeout=30) == 1


def test_a_refusal_names_what_would_allow_it(tmp_path: Path) -> None:
    asks = "permissions:\n  network: ['GET https://api.example.org/*']\n"
    with pytest.raises(Refused) as caught:
        made_class(tmp_path / "asks", "return 1", manifest=asks)().execute({})
    assert "https://api.example.org" in caught.value.denials[0].message


def test_execute_isolated_takes_what_a_program_has(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "adds", "return params['a'] + 1")
    bundle = SkillLoader.load_skill(str(folder))
    for skill in (str(folder), folder, bundle, bundle["class"], bundle["class"]()):
        assert SkillLoader.execute_isolated(skill, {"a": 1}) == 2
    assert SkillLoader.execute_isolated("optimization/prompt_rewriter", REWRITE)["tokens_saved"] >= 0
    with pytest.raises(TypeError):
        SkillLoader.execute_isolated(3, {})


def test_an_instance_is_a_base_skill_with_config_and_credentials(tmp_path: Path) -> None:
    skill = made_class(tmp_path / "configured", "return self.config")(config={"a": [1]})
    assert isinstance(skill, BaseSkill) and isinstance(skill, IsolatedSkill)
    assert skill.execute({}) == {"a": [1]} and skill.credential("a") == "[1]"
    skill.manifest["name"] = "changed"
    assert skill.manifest["name"] == "test/configured"
    assert skill.last_report is not None and skill.last_report.tier == "wasm"
    assert not hasattr(skill, "etherscan_api_key")
    with pytest.raises(AttributeError, match="in its cell only"):
        _ = skill.set_by_the_constructor


def test_async_calls_run_beside_each_other_and_can_be_cancelled(tmp_path: Path) -> None:
    skill = made_class(tmp_path / "sleeps", "import time\ntime.sleep(params['s'])\nreturn params['s']")()
    skill.execute({"s": 0})

    async def run() -> None:
        assert await asyncio.gather(*(skill.aexecute({"s": s / 100}) for s in range(4))) == [0, 0.01, 0.02, 0.03]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(skill.aexecute({"s": 60}), timeout=0.2)

    begun = time.monotonic()
    asyncio.run(run())
    assert time.monotonic() - begun < 30


def test_a_context_works_as_skillwares_does() -> None:
    ids = ["optimization/prompt_rewriter", "monitoring/kpi_gate"]
    ours, real = SkillContext(skills=ids), skillware.SkillContext(skills=ids, check_requirements=False)
    assert ours.skill_ids == real.skill_ids and ours.merge_system("Host.") == real.merge_system("Host.")
    for provider in ("claude", "openai", "deepseek", "bedrock"):
        assert ours.tools(provider) == real.tools(provider)
    assert ours.ollama_prompt == real.ollama_prompt
    assert ours.brief("security/prompt_injection_firewall") == real.brief("security/prompt_injection_firewall")
    assert ours.execute(ids[0], REWRITE) == real.execute(ids[0], REWRITE)
    assert asyncio.run(ours.aexecute(ids[0], REWRITE, timeout=60)) == real.execute(ids[0], REWRITE)
    with pytest.raises(SkillwareParamValidationError):
        ours.execute(ids[0], {"raw_text": 1})
    assert issubclass(ours.prepare(ids[0]).bundle["class"], IsolatedSkill)
    assert SkillContext(categories=["monitoring"], mode="directives").merge_system("") == skillware.SkillContext(
        categories=["monitoring"], mode="directives", check_requirements=False
    ).merge_system("")


def test_isolate_changes_the_real_loader_and_puts_it_back() -> None:
    name = "optimization/prompt_rewriter"
    with isolate(timeout=20):
        bundle = RealLoader.load_skill(name)
        assert issubclass(bundle["class"], IsolatedSkill)
        context = skillware.SkillContext(skill=name)
        assert issubclass(context.prepare(name).bundle["class"], IsolatedSkill)
        assert context.execute(name, REWRITE)["tokens_saved"] >= 0
        patched: Any = RealLoader
        assert patched.execute_isolated(bundle, REWRITE) == context.execute(name, REWRITE)
        with isolate():
            assert issubclass(RealLoader.load_skill(name)["class"], IsolatedSkill)
        assert issubclass(RealLoader.load_skill(name)["class"], IsolatedSkill)
    assert not issubclass(RealLoader.load_skill(name)["class"], IsolatedSkill)
    assert not hasattr(RealLoader, "execute_isolated")
    patch = isolate()
    assert issubclass(RealLoader.load_skill(name)["class"], IsolatedSkill)
    patch.undo()
    patch.undo()
    assert not issubclass(RealLoader.load_skill(name)["class"], IsolatedSkill)


def test_a_chain_runs_in_cells_below_isolate() -> None:
    from skillware.chains import run_chain
    from skillware.core.chains_config import ChainDefinition, ChainStep

    step = ChainStep(skill="optimization/prompt_rewriter", input_from={"raw_text": "host.text"})
    chain = ChainDefinition(name="one", steps=(step,))
    with isolate():
        ran = run_chain(chain, host_input={"text": "Please be so kind as to help."})
    assert "compressed_text" in str(ran)


def test_settings_hold_for_programs_that_only_change_an_import(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("hello")
    before = configure(call={"mounts": [f"{tmp_path / 'data'}:/data"]})
    try:
        assert made_class(tmp_path / "reads", "return open('/data/a.txt').read()")().execute({}) == "hello"
    finally:
        configure(before)
    with pytest.raises(FileNotFoundError):
        made_class(tmp_path / "reads", "return open('/data/a.txt').read()")().execute({})


def test_a_call_keeps_nothing(tmp_path: Path) -> None:
    skill = made_class(tmp_path / "counts", "self.n = getattr(self, 'n', 0) + 1\nreturn self.n")()
    assert [skill.execute({}), skill.execute({})] == [1, 1]


def test_a_skill_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SkillLoader.load_skill("no/such_skill")
    with pytest.raises(FileNotFoundError):
        SkillLoader.load_skill(str(tmp_path))


def test_without_skillware_the_loader_and_the_adapters_work() -> None:
    names = ("to_claude_tool", "to_openai_tool", "to_deepseek_tool", "to_bedrock_tool", "to_ollama_prompt")
    script = (
        "import sys, json\n"
        "sys.modules['skillware'] = None\n"
        "from skillcell.skillware import SkillLoader, SkillwareParamValidationError\n"
        "bundle = SkillLoader.load_skill('optimization/prompt_rewriter')\n"
        "skill = SkillLoader.get_skill_class(bundle)()\n"
        "try: skill.validate_params({'raw_text': 1})\n"
        "except SkillwareParamValidationError as error: wrong = str(error)\n"
        f"tools = [getattr(SkillLoader, name)(bundle) for name in {names!r}]\n"
        f"print(json.dumps([skill.execute({REWRITE!r}), wrong, tools, bundle['registry_id'], skill.shape, skill.target]))\n"
    )
    result, wrong, tools, registry_id, shape, target = json.loads(run_python("-c", script).stdout)
    real = RealLoader.load_skill("optimization/prompt_rewriter")
    assert result == real["class"]().execute(REWRITE)
    assert "'raw_text'" in wrong and registry_id == real["registry_id"]
    assert tools == [getattr(RealLoader, name)(real) for name in names]
    assert (shape, target) == (real["class"]().shape, real["class"]().target)


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}
    return subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=120)


def test_the_command_of_the_proposal(tmp_path: Path) -> None:
    command = ("-m", "skillcell.skillware", "run", "--isolated")
    done = run_python(*command, "optimization/prompt_rewriter", "--params", json.dumps(REWRITE))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["tokens_saved"] >= 0
    raises = str(write_skill(tmp_path / "raises", "raise ValueError('\\x1b[2J')"))
    done = run_python(*command, raises)
    assert done.returncode == 1 and "\x1b" not in done.stderr
    assert run_python(*command, "no/such").returncode == 2
    asks = str(write_skill(tmp_path / "asks", "return 1", manifest="permissions:\n  env: [SOME_NAME]\n"))
    assert run_python(*command, asks).returncode == 3
    loops = str(write_skill(tmp_path / "loops", "while True: pass"))
    assert run_python(*command, loops, "--timeout", "0.3").returncode == 4


@pytest.mark.parametrize(
    "wrong", [["--params", "{"], ["--params", "@/no/such"], ["--mount", "x"], ["--secret-host", "NAME"]], ids=" ".join
)
def test_a_wrong_word_of_the_command_is_named(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from skillcell.skillware.__main__ import main

    try:
        code: object = main(["run", "optimization/prompt_rewriter", *wrong])
    except SystemExit as ended:
        code = ended.code
    assert code == 2 and wrong[0].lstrip("-") in capsys.readouterr().err


def test_the_default_isolation_is_used_by_what_was_loaded_with_it(tmp_path: Path) -> None:
    skill = made_class(tmp_path / "loops", "while True: pass", isolation=Isolation(timeout=0.3))()
    with pytest.raises(TimeoutError):
        skill.execute({})
