"""Google ADK: a model's code, and the scripts of a `SkillToolset`, in cells.

SkillToolset(skills=[...], code_executor=CellCodeExecutor())
"""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import base64
import mimetypes
from typing import TYPE_CHECKING, Any

from google.adk.code_executors.base_code_executor import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionResult, File
from pydantic import ConfigDict, Field

from .. import CallError, Host
from .._python import run_python

if TYPE_CHECKING:
    from google.adk.agents.invocation_context import InvocationContext


class CellCodeExecutor(BaseCodeExecutor):
    """Each execution is a fresh cell: no state is kept. `call` are options of `Host.call`: what is granted, and the limits."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    host: Host | None = None
    call: dict[str, Any] = Field(default_factory=dict)

    def execute_code(
        self, invocation_context: InvocationContext, code_execution_input: CodeExecutionInput
    ) -> CodeExecutionResult:
        """A limit or a refusal is a result too: it ends with a word on stderr, and 124 or 126 as exit code."""
        options = dict(self.call)
        if self.timeout_seconds is not None:
            options.setdefault("timeout", float(self.timeout_seconds))
        files = {file.name: _bytes_of(file) for file in code_execution_input.input_files}
        try:
            ran = run_python(code_execution_input.code, files=files, host=self.host, **options)
        except CallError as error:
            code = 126 if error.report.outcome == "refused" else 124
            return CodeExecutionResult(
                stdout=error.report.stdout, stderr=f"{error.report.stderr}{error}", exit_code=code
            )
        written = [_file_of(name, content) for name, content in ran.files.items()]
        return CodeExecutionResult(stdout=ran.stdout, stderr=ran.stderr, output_files=written, exit_code=ran.exit_code)


def _bytes_of(file: File) -> bytes:
    """ADK has bytes, or text that is base64."""
    return base64.b64decode(file.content) if isinstance(file.content, str) else file.content


def _file_of(name: str, content: bytes) -> File:
    return File(name=name, content=content, mime_type=mimetypes.guess_type(name)[0] or "application/octet-stream")
