"""smolagents: the code of a `CodeAgent`, in cells.

    CodeAgent(tools=[...], model=..., executor=CellPythonExecutor())

All steps of an executor are made in one cell, a session: names that a step makes are there in the next one. A limit ends the
session, and the next step begins anew. Tools are sent as source, so that they run in the cell too, with nothing of the host's.
"""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any, Unpack

from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.tools import Tool, get_tools_definition_code

from .. import CallOptions, Host, Session
from .._python import run_step


class CellPythonExecutor(PythonExecutor):
    """A `PythonExecutor`. Options are those of `Host.call`: what is granted, and the limits."""

    def __init__(self, host: Host | None = None, **options: Unpack[CallOptions]) -> None:
        self.host = host
        self.options = options
        self.session = Session()
        # Sent again if a session ends.
        self.preamble: list[str] = []

    def send_tools(self, tools: dict[str, Tool]) -> None:
        """`final_answer` is the cell's own."""
        others = {name: tool for name, tool in tools.items() if name != "final_answer"}
        if others:
            self._send(get_tools_definition_code(others))

    def send_variables(self, variables: dict[str, Any]) -> None:
        """JSON values, which is what the cell can be told."""
        if variables:
            lines = [
                f"{name} = {value!r}" for name, value in variables.items() if name.isidentifier() and _is_plain(value)
            ]
            self._send("\n".join(lines))

    def __call__(self, code_action: str) -> CodeOutput:
        """Runs a step."""
        if self.session.ended is not None:
            self.cleanup()
            for code in self.preamble:
                self._run(code)
        return self._run(code_action)

    def _send(self, code: str) -> None:
        self.preamble.append(code)
        self(code)

    def _run(self, code: str) -> CodeOutput:
        report, result = run_step(code, self.host, {**self.options, "session": self.session})
        logs = f"{report.stdout}{report.stderr}"
        if result["error"] is not None:
            raise StepError(f"{logs}\n{result['error']}".strip())
        return CodeOutput(output=result["output"], logs=logs, is_final_answer=result["final"] is True)

    def cleanup(self) -> None:
        """Forgets what the steps made."""
        self.session.close()
        self.session = Session()


class StepError(Exception):
    """The step's code raised; the text is for the model."""


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(one) for pair in value.items() for one in pair)
    return value is None or type(value) in (str, int, float, bool)
