"""smolagents: the code of a `CodeAgent`, in cells.

    CodeAgent(tools=[...], model=..., executor=CellPythonExecutor())

All steps of an executor are made in one cell, a session: names that a step makes are there in the next one. A limit ends the
session, and the next step begins anew. Tools are sent as source, so that they run in the cell too, with nothing of the host's.
"""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

import json
import keyword
import math
import warnings
from typing import Any, Unpack, cast

from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.tools import Tool, get_tools_definition_code

from .. import BadProgram, CallOptions, Host, Session
from .._host import shared_host
from .._skillcell import Program

#: Where a step leaves what it came to, in the cell's folder.
ANSWER = ".skillcell-step.json"
#: What a step runs: the code's last line is its value. It shares the interpreter with the code, so its answer is the code's own word.
STEP = f"""
def _skillcell_step(code):
    import ast, json, sys, traceback

    class FinalAnswer(BaseException):
        pass

    def final_answer(answer=None):
        raise FinalAnswer(answer)

    def as_json(value):
        try:
            return json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            return repr(value)

    names = vars(sys.modules["__main__"])
    names["final_answer"] = final_answer
    output, final, error = None, False, None
    try:
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<step>", "exec", dont_inherit=True), names)
        if last is not None:
            output = eval(compile(ast.Expression(last.value), "<step>", "eval", dont_inherit=True), names)
    except FinalAnswer as answer:
        output, final = answer.args[0], True
    except BaseException as raised:
        error = f"{{type(raised).__name__}}: {{raised}}"
        trace = raised.__traceback__
        while trace is not None and trace.tb_frame.f_code is _skillcell_step.__code__:
            trace = trace.tb_next
        traceback.print_exception(type(raised), raised, trace)
    with open({ANSWER!r}, "w") as file:
        json.dump([as_json(output), final, error], file)

_skillcell_step("""


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
        """JSON values, which is what the cell can be told. A warning names the others."""
        sent = {name: value for name, value in variables.items() if _is_name(name) and _is_plain(value)}
        if left_out := sorted(variables.keys() - sent.keys()):
            warnings.warn(f"not sent to the cell, which takes JSON values only: {', '.join(left_out)}", stacklevel=2)
        if sent:
            self._send("\n".join(f"{name} = {value!r}" for name, value in sent.items()))

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
        # All steps of a session are made over one image, whatever they import.
        step = Program("import ast, json, traceback", code=f"{STEP}{code!r})\n")
        options: CallOptions = {**self.options, "session": self.session}
        report = (self.host or shared_host()).call(step, **options)
        if report.exit_code is None:
            report.raise_for_outcome()
        output, final, error = _answer_of(report.files.get(ANSWER))
        logs = f"{report.stdout}{report.stderr}"
        if error is not None:
            raise StepError(f"{logs}\n{error}".strip())
        return CodeOutput(output=output, logs=logs, is_final_answer=final)

    def cleanup(self) -> None:
        """Forgets what the steps made."""
        self.session.close()
        self.session = Session()


class StepError(Exception):
    """The step's code raised; the text is for the model."""


def _answer_of(text: bytes | None) -> tuple[Any, bool, str | None]:
    try:
        output, final, error = cast("list[Any]", json.loads(text or b"null"))
    except (TypeError, ValueError, RecursionError):
        raise BadProgram("the step left something else than its answer") from None
    return output, final is True, None if error is None else str(error)


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return type(value) is float and math.isfinite(value)
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(one) for pair in value.items() for one in pair)
    return value is None or type(value) in (str, int, bool)
