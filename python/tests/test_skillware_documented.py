"""Programs that Skillware documents, as they are but for the import of the loader: its README's, which comes with the package, and
with `SKILLWARE_CLONE` those of its guides and examples, which are in no package. They run as processes of their own, with the
real clients, against a model that is a script on loopback."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("skillware")
pytest.importorskip("trustme")

from test_skillware_examples import Model

from skillware_cases import Answers, recorded_cases, without

CLONE = os.environ.get("SKILLWARE_CLONE")
CASES = {case["id"]: case for case in recorded_cases()}
SCREEN, TERMS = CASES["finance/wallet_screening#screen"], CASES["compliance/tos_evaluator#terms"]
CHANGED = {
    "from skillware.core.loader import SkillLoader": "from skillcell.skillware import SkillLoader",
    "from skillware import SkillContext": "from skillcell.skillware import SkillContext",
}
#: What an operator sets, and who does not want to change a program.
SETTINGS = """
import runpy, sys
from skillcell import Host
from skillcell.skillware import configure
configure(
    host=Host(ca_file={authority!r}),
    secret_hosts={{"ETHERSCAN_API_KEY": ["api.etherscan.io"]}},
    call={{"allow_http": {allow_http!r}, "resolve": {resolve!r}}},
)
runpy.run_path(sys.argv[1], run_name="__main__")
loaded = [name for name in sys.modules if name.startswith(("skills.", "skill_module"))]
assert not loaded, loaded
"""


def run_documented(source: str, case: dict[str, Any], model: Model, folder: Path) -> str:
    """What such a program prints, with another import, where the services of a recorded call answer; they have to be asked as
    they were when it was recorded."""
    program = folder / "documented.py"
    for name, ours in CHANGED.items():
        source = source.replace(name, ours)
    assert "skillcell.skillware" in source
    program.write_text(source)
    services = Answers(case, folder)
    settings = SETTINGS.format(
        authority=str(services.authority), allow_http=services.allow_http, resolve=services.resolve
    )
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"), "none")
    urls = {"OPENAI_BASE_URL": f"{model.url}/v1", "OLLAMA_HOST": model.url, "GOOGLE_GEMINI_BASE_URL": model.url}
    more = {"ETHERSCAN_API_KEY": "recorded-key", "ANTHROPIC_BASE_URL": model.url, "PYTHONUTF8": "1", **keys, **urls}
    done = subprocess.run(
        [sys.executable, "-c", settings, str(program)],
        env={**os.environ, **more},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
    )
    services.close()
    model.close()
    assert done.returncode == 0, done.stderr
    assert services.requests == case.get("http_requests", [])
    return done.stdout


def check_told(told: Any, case: dict[str, Any]) -> None:
    """What the model was told is what the skill gives natively."""
    ignored = case.get("nondeterministic", [])
    assert without(told, ignored) == without(case["expected"], ignored)


def gemini_replies(tool: str, params: Any) -> list[dict[str, Any]]:
    def reply(part: dict[str, Any]) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}

    return [reply({"functionCall": {"name": tool, "args": params}}), reply({"text": "It is done."})]


#: The README's program keeps no client, which this version of the client then closes under its own chat.
README_CLIENT = """
import google.genai
del google.genai.Client.__del__
"""
#: The loop that the README's program ends with, in its words a comment.
README_LOOP = """
answer = chat.send_message("Who is Nobody?")
call = answer.candidates[0].content.parts[0].function_call
told = types.Part.from_function_response(name=call.name, response={"result": skill.execute(dict(call.args))})
print(chat.send_message(told).text)
"""


def test_the_program_of_the_readme(tmp_path: Path) -> None:
    pytest.importorskip("google.genai")
    readme = importlib.metadata.distribution("skillware").read_text("METADATA") or ""
    (program,) = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    assert "send_message(user)" in program and "skill.execute" in program
    case = CASES["office/gmail_handler#unknown_contact"]
    model = Model(gemini_replies("office_gmail_handler", case["params"]))
    assert run_documented(README_CLIENT + program + README_LOOP, case, model, tmp_path) == "It is done.\n"
    answer = model.asked[1]["contents"][-1]["parts"][0]["functionResponse"]
    check_told(answer["response"]["result"], case)


@pytest.fixture
def clone() -> Iterator[Path]:
    assert CLONE is not None
    yield Path(CLONE)


def code_of(guide: Path) -> list[str]:
    """The Python of a guide, block by block."""
    return [code for _, code in re.findall(r"^(```+)python\n(.*?)^\1$", guide.read_text(), re.DOTALL | re.MULTILINE)]


def claude_replies(tool: str, params: Any) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None, "usage": usage}
    use = {"type": "tool_use", "id": "t1", "name": tool, "input": params}
    said = {"type": "text", "text": "It is done."}
    return [
        {**message, "stop_reason": "tool_use", "content": [use]},
        {**message, "stop_reason": "end_turn", "content": [said]},
    ]


def ollama_replies(calls: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    texts = [f"```json\n{json.dumps({'tool': tool, 'arguments': params})}\n```" for tool, params in calls]
    return [
        {"model": "m", "done": True, "message": {"role": "assistant", "content": text}}
        for text in [*texts, "It is done."]
    ]


def openai_replies(tool: str, params: Any) -> list[dict[str, Any]]:
    base = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    function = {"name": tool, "arguments": json.dumps(params)}
    use = {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "type": "function", "function": function}]}
    last = {"role": "assistant", "content": "It is done."}
    return [
        {**base, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": use}]},
        {**base, "choices": [{"index": 0, "finish_reason": "stop", "message": last}]},
    ]


if CLONE is not None:

    def test_the_guide_for_claude(clone: Path, tmp_path: Path) -> None:
        first, second = code_of(clone / "docs/usage/claude.md")
        # It leaves out two lines.
        between, after = "my_skill = skill['class']()\n", "    print(response.content[0].text)\n"
        model = Model(claude_replies("finance_wallet_screening", SCREEN["params"]))
        printed = run_documented(first + between + second + after, SCREEN, model, tmp_path)
        assert printed == "Calling finance_wallet_screening...\nIt is done.\n"
        check_told(eval(model.asked[1]["messages"][2]["content"][0]["content"]), SCREEN)

    def test_the_guide_for_openai(clone: Path, tmp_path: Path) -> None:
        (program,) = [code for code in code_of(clone / "docs/usage/openai.md") if "tool_calls" in code]
        model = Model(openai_replies("compliance_tos_evaluator", TERMS["params"]))
        assert run_documented(program, TERMS, model, tmp_path) == "It is done.\n"
        check_told(json.loads(model.asked[1]["messages"][-1]["content"]), TERMS)

    def test_the_guide_for_gemini(clone: Path, tmp_path: Path) -> None:
        program = code_of(clone / "docs/usage/gemini.md")[0]
        model = Model(gemini_replies("finance_wallet_screening", SCREEN["params"]))
        assert run_documented(program, SCREEN, model, tmp_path) == "It is done.\n"
        told = model.asked[1]["contents"]
        parts = [part for content in told for part in content["parts"] if "functionResponse" in part]
        check_told(parts[0]["functionResponse"]["response"]["result"], SCREEN)

    def test_the_guide_for_ollama(clone: Path, tmp_path: Path) -> None:
        program = code_of(clone / "docs/usage/ollama.md")[0]
        model = Model(ollama_replies([("finance/wallet_screening", SCREEN["params"])]))
        assert run_documented(program, SCREEN, model, tmp_path).endswith("It is done.\n")
        check_told(ollama_answers(model)[0], SCREEN)

    def test_the_example_for_claude(clone: Path, tmp_path: Path) -> None:
        # It goes by the name that the skill had when it was written.
        model = Model(claude_replies("wallet_screening", SCREEN["params"]))
        program = (clone / "examples/claude_wallet_check.py").read_text()
        assert run_documented(program, SCREEN, model, tmp_path).endswith("It is done.\n")
        check_told(json.loads(model.asked[1]["messages"][2]["content"][0]["content"]), SCREEN)

    def test_the_example_for_ollama(clone: Path, tmp_path: Path) -> None:
        rewrite = {"raw_text": "make me a cool image of a cat", "compression_aggression": "low"}
        calls = [("finance/wallet_screening", SCREEN["params"]), ("optimization/prompt_rewriter", rewrite)]
        model = Model(ollama_replies(calls))
        program = (clone / "examples/ollama_skills_test.py").read_text()
        assert "Final Answer reached" in run_documented(program, SCREEN, model, tmp_path)
        screened, rewritten = ollama_answers(model)
        check_told(screened, SCREEN)
        assert rewritten["tokens_saved"] >= 0


def ollama_answers(model: Model) -> list[Any]:
    """The results that the model was told, as text."""
    told = [one["content"] for one in model.asked[-1]["messages"] if "SYSTEM RESPONSE (" in one["content"]]
    return [json.loads(re.findall(r"```json\n(.*)\n```", text, re.DOTALL)[0]) for text in told]
