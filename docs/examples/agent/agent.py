"""An agent loop whose tools are skills in cells, over MCP on stdio. The model is scripted, so that it runs without a key:

    python3 docs/examples/agent/agent.py

Put a real model in place of `ScriptedModel`; the loop stays. It needs nothing but Python and `skillcell` in the PATH.
"""

import json
import os
import subprocess

PROGRAM = os.environ.get("SKILLCELL", "skillcell")
SKILLS = ["optimization/prompt_rewriter"]


class Tools:
    """The tools of an MCP server: the skills that it serves."""

    def __init__(self, *skills):
        self._server = subprocess.Popen(
            [PROGRAM, "--quiet", "mcp", *skills], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._last = 0
        client = {"name": "example-agent", "version": "1"}
        self._ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self._send(method="notifications/initialized")
        self.list = self._ask("tools/list")["tools"]

    def call(self, name, arguments):
        """What the tool says, and whether it failed."""
        answer = self._ask("tools/call", name=name, arguments=arguments)
        text = "\n".join(part["text"] for part in answer["content"] if part["type"] == "text")
        return text, answer.get("isError", False)

    def close(self):
        self._server.stdin.close()
        self._server.wait()

    def _ask(self, method, **params):
        self._last += 1
        self._send(id=self._last, method=method, params=params)
        for line in self._server.stdout:
            message = json.loads(line)
            if message.get("id") == self._last:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
        raise RuntimeError("the server ended")

    def _send(self, **message):
        self._server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._server.stdin.flush()


class ScriptedModel:
    """Stands where a model would: it gets the conversation and the tools, and answers with a tool call or with text."""

    def answer(self, messages, tools):
        said = messages[-1]
        rewriter = next(tool["name"] for tool in tools if "rewriter" in tool["name"])
        if said["role"] == "user":
            # A first try with a param that the skill does not know: the error tells a model what to mend.
            return {"tool": rewriter, "arguments": {"text": said["text"]}}
        if said["failed"]:
            return {"tool": rewriter, "arguments": {"raw_text": messages[0]["text"]}}
        return {"text": f"Shorter: {json.loads(said['text'])['compressed_text']}"}


def run_agent(model, tools, question, most_turns=8):
    messages = [{"role": "user", "text": question}]
    for _ in range(most_turns):
        answer = model.answer(messages, tools.list)
        if "text" in answer:
            return answer["text"]
        text, failed = tools.call(answer["tool"], answer["arguments"])
        print(f"{answer['tool']}({json.dumps(answer['arguments'])}) -> {'failed: ' if failed else ''}{text}")
        messages.append({"role": "tool", "text": text, "failed": failed})
    raise RuntimeError("the model did not come to an end")


if __name__ == "__main__":
    tools = Tools(*SKILLS)
    try:
        print(run_agent(ScriptedModel(), tools, "Could you please help me to write a short summary of this text?"))
    finally:
        tools.close()
