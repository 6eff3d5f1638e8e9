"""The loops of Skillware's guides for Claude, OpenAI, Gemini and Ollama, with the import changed: the real client packages, a
model that is a script on loopback, and the skill of the guides, which asks two services with a key."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("skillware")
pytest.importorskip("trustme")

from skillcell import Host
from skillcell.skillware import SkillLoader, configure
from skillware_cases import Answers, recorded_cases, without

CASE = next(case for case in recorded_cases() if case["id"] == "finance/wallet_screening#screen")
SKILL, PARAMS = CASE["skill"], CASE["params"]
TOOL = "finance_wallet_screening"


class Model:
    """Answers a client's requests with these replies, one after the other."""

    def __init__(self, replies: list[dict[str, Any]]) -> None:
        self.asked: list[dict[str, Any]] = []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                content = json.dumps(replies[len(model.asked) - 1]).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """What the skill asks, and the settings that an operator makes for it."""
    monkeypatch.setenv("ETHERSCAN_API_KEY", "recorded-key")
    answers = Answers(CASE, tmp_path)
    before = configure(
        host=Host(ca_file=answers.authority),
        secret_hosts={"ETHERSCAN_API_KEY": ["api.etherscan.io"]},
        call={"allow_http": answers.allow_http, "resolve": answers.resolve},
    )
    yield answers
    configure(before)
    answers.close()


def check_result(result: Any, services: Answers) -> None:
    ignored = CASE.get("nondeterministic", [])
    assert without(result, ignored) == without(CASE["expected"], ignored)
    assert services.requests == CASE["http_requests"]


def test_the_claude_loop(services: Answers) -> None:
    anthropic = pytest.importorskip("anthropic")
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None, "usage": usage}
    use = {"type": "tool_use", "id": "t1", "name": TOOL, "input": PARAMS}
    model = Model(
        [
            {**message, "stop_reason": "tool_use", "content": [use]},
            {**message, "stop_reason": "end_turn", "content": [{"type": "text", "text": "It is risky."}]},
        ]
    )
    client = anthropic.Anthropic(api_key="none", base_url=model.url, max_retries=0)

    bundle = SkillLoader.load_skill(SKILL)
    skill = bundle["class"]()
    asked: dict[str, Any] = {"model": "m", "max_tokens": 100, "system": bundle["instructions"]}
    asked["tools"] = [SkillLoader.to_claude_tool(bundle)]
    messages: list[Any] = [{"role": "user", "content": "Screen this wallet."}]
    answer = client.messages.create(messages=messages, **asked)
    assert answer.stop_reason == "tool_use"
    wanted = next(block for block in answer.content if block.type == "tool_use")
    result = skill.execute(wanted.input)
    told = {"type": "tool_result", "tool_use_id": wanted.id, "content": json.dumps(result)}
    messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [told]}]
    answer = client.messages.create(messages=messages, **asked)
    model.close()

    assert answer.content[0].text == "It is risky."
    assert json.loads(model.asked[1]["messages"][2]["content"][0]["content"]) == result
    assert model.asked[0]["tools"][0]["name"] == TOOL
    check_result(result, services)


def test_the_openai_loop(services: Answers) -> None:
    openai = pytest.importorskip("openai")
    base = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    function = {"name": TOOL, "arguments": json.dumps(PARAMS)}
    use = {"role": "assistant", "content": None, "tool_calls": [{"id": "t1", "type": "function", "function": function}]}
    last = {"role": "assistant", "content": "It is risky."}
    model = Model(
        [
            {**base, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": use}]},
            {**base, "choices": [{"index": 0, "finish_reason": "stop", "message": last}]},
        ]
    )
    client = openai.OpenAI(api_key="none", base_url=model.url, max_retries=0)

    bundle = SkillLoader.load_skill(SKILL)
    # The other form that the guide has.
    skill = bundle["module"].WalletScreeningSkill()
    tool = SkillLoader.to_openai_tool(bundle)
    messages: list[Any] = [
        {"role": "system", "content": bundle["instructions"]},
        {"role": "user", "content": "Screen it."},
    ]
    answer = client.chat.completions.create(model="m", messages=messages, tools=[tool]).choices[0].message
    while answer.tool_calls:
        call = answer.tool_calls[0]
        assert call.function.name == tool["function"]["name"]
        result = skill.execute(json.loads(call.function.arguments))
        messages += [answer, {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}]
        answer = client.chat.completions.create(model="m", messages=messages, tools=[tool]).choices[0].message
    model.close()

    assert answer.content == "It is risky."
    assert json.loads(model.asked[1]["messages"][-1]["content"]) == result
    check_result(result, services)


def test_the_gemini_loop(services: Answers) -> None:
    genai = pytest.importorskip("google.genai")
    import os

    from google.genai import types

    def reply(part: dict[str, Any]) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}

    model = Model([reply({"functionCall": {"name": TOOL, "args": PARAMS}}), reply({"text": "It is risky."})])
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=model.url))

    bundle = SkillLoader.load_skill(SKILL)
    # As in the guide: the key is handed over as config, and is a placeholder in the cell all the same.
    skill = bundle["class"](config={"ETHERSCAN_API_KEY": os.environ.get("ETHERSCAN_API_KEY")})
    tool = SkillLoader.to_gemini_tool(bundle)
    off = types.AutomaticFunctionCallingConfig(disable=True)
    config = types.GenerateContentConfig(
        tools=[tool], system_instruction=bundle["instructions"], automatic_function_calling=off
    )
    answer = client.models.generate_content(model="m", contents="Screen it.", config=config)
    wanted = answer.candidates[0].content.parts[0].function_call
    result = skill.execute(dict(wanted.args))
    told = types.Part.from_function_response(name=wanted.name, response={"result": result})
    answer = client.models.generate_content(model="m", contents=["Use the result.", told], config=config)
    model.close()

    assert answer.text == "It is risky."
    assert tool.function_declarations[0].name == TOOL
    check_result(result, services)


def test_the_ollama_loop(services: Answers) -> None:
    ollama = pytest.importorskip("ollama")
    use = json.dumps({"tool": SKILL, "arguments": PARAMS})
    texts = [f"I will look.\n```json\n{use}\n```", "It is risky."]
    model = Model([{"model": "m", "done": True, "message": {"role": "assistant", "content": text}} for text in texts])
    client = ollama.Client(host=model.url)

    bundle = SkillLoader.load_skill(SKILL)
    skill = bundle["class"]()
    system = f"Use a tool by a JSON block.\n{SkillLoader.to_ollama_prompt(bundle)}\n{bundle['instructions']}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Screen it."}]
    said = client.chat(model="m", messages=messages)["message"]["content"]
    block = re.search(r"```json\s*(\{.*\})\s*```", said, re.DOTALL)
    assert block
    call = json.loads(block.group(1))
    assert call["tool"] == bundle["manifest"]["name"]
    result = skill.execute(call["arguments"])
    messages += [{"role": "assistant", "content": said}, {"role": "user", "content": json.dumps(result)}]
    said = client.chat(model="m", messages=messages)["message"]["content"]
    model.close()

    assert said == "It is risky."
    assert f"### Tool: `{SKILL}`" in model.asked[0]["messages"][0]["content"]
    check_result(result, services)
