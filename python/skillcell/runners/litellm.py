"""LiteLLM: its sandbox interface, in this process, in cells.

    with installed():
        await litellm.sandbox.main.acode_interpreter_tool(provider="opensandbox", code="print(6 * 7)")

LiteLLM's list of providers is closed: `installed` answers for one of its names. A "container" is a name only, and each code
runs in a fresh cell.
"""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Unpack

from litellm.llms.base_llm.sandbox.transformation import BaseSandboxConfig, CodeExecutionResult, ContainerHandle
from litellm.utils import ProviderConfigManager

from .. import CallError, CallOptions, Host
from .._python import arun_python


class CellSandbox(BaseSandboxConfig):
    """Options are those of `Host.call`: what is granted, and the limits. `allow_internet_access` grants nothing."""

    def __init__(self, host: Host | None = None, **options: Unpack[CallOptions]) -> None:
        self.host = host
        self.options = options

    def validate_environment(self, api_key: str | None = None, **kwargs: Any) -> str:
        """There is no key."""
        return ""

    async def acreate_sandbox(
        self,
        *,
        template: str | None = None,
        timeout: int | None = None,
        allow_internet_access: bool | None = None,
        api_key: str | None = None,
        **kwargs: Any,
    ) -> ContainerHandle:
        """A name; its time-out is that of each code."""
        seconds = "" if timeout is None else str(int(timeout))
        return ContainerHandle(id=f"cell-{uuid.uuid4().hex}:{seconds}", provider="skillcell")

    async def arun_code(
        self, *, container: ContainerHandle | str, code: str, api_key: str | None = None, **kwargs: Any
    ) -> CodeExecutionResult:
        """Runs code in a fresh cell."""
        options: CallOptions = {**self.options}
        seconds = (container if isinstance(container, str) else container.id).rpartition(":")[2]
        if seconds.isdigit():
            options.setdefault("timeout", float(seconds))
        try:
            ran = await arun_python(code, host=self.host, **options)
        except CallError as error:
            told = {"name": type(error).__name__, "value": str(error), "traceback": ""}
            return CodeExecutionResult(stdout=error.report.stdout, stderr=error.report.stderr, error=told)
        failed = (
            {"name": "exit", "value": f"exit code {ran.exit_code}", "traceback": ran.stderr} if ran.exit_code else None
        )
        return CodeExecutionResult(stdout=ran.stdout, stderr=ran.stderr, error=failed)

    async def adelete_sandbox(
        self, *, container: ContainerHandle | str, api_key: str | None = None, **kwargs: Any
    ) -> bool:
        """Nothing is left of a cell."""
        return True


@contextmanager
def installed(sandbox: CellSandbox | None = None, provider: str = "opensandbox") -> Iterator[CellSandbox]:
    """Answers for a provider of LiteLLM's, for as long as this lasts."""
    providers: Any = ProviderConfigManager
    ours, before = sandbox or CellSandbox(), providers.get_provider_sandbox_config

    def find(asked: Any) -> Any:
        return ours if asked == provider else before(asked)

    providers.get_provider_sandbox_config = staticmethod(find)
    try:
        yield ours
    finally:
        providers.get_provider_sandbox_config = staticmethod(before)
