"""`run_python`: a program in a cell, for what a model wrote and for scripts of skills. The runners for frameworks sit on it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from ._errors import SkillcellError
from ._host import Host

if TYPE_CHECKING:
    from typing import Unpack

    from ._options import CallOptions
    from ._skillcell import Report

PYTHON_SKILL = str(Path(__file__).with_name("python_skill"))
MAX_FILES = 1_000
#: A call's params are at most 64 MiB, and files are in them as base64.
MAX_FILE_BYTES = 40 << 20


class BadProgram(SkillcellError, ValueError):
    """A program, or a file of it, that can't be run; or a program that lied about what it wrote."""


@dataclass(frozen=True)
class Ran:
    """A program that ended by itself."""

    #: As a process has it: 0, what `sys.exit` said, or 1 for an exception, whose traceback is in `stderr`.
    exit_code: int
    stdout: str
    stderr: str
    #: What it wrote in its folder, by paths that lead nowhere else.
    files: dict[str, bytes]
    report: Report


def run_python(
    code: str,
    *,
    files: Mapping[str, bytes | str] | None = None,
    argv: Sequence[str] = (),
    stdin: str = "",
    path: str = "main.py",
    host: Host | None = None,
    **options: Unpack[CallOptions],
) -> Ran:
    """Runs a program in a fresh cell.

    `files` are laid in its folder; `path` is where it lies there itself, which `__file__` and sibling modules go by. Other
    options are those of `Host.call`: nothing is granted without them. Raises `Exceeded`, `Refused` and the like; a program that
    fails has an exit code.
    """
    report = (host or _shared()).call(PYTHON_SKILL, _params(code, files, argv, stdin, path), **_quietly(options))
    return _ran(report)


async def arun_python(
    code: str,
    *,
    files: Mapping[str, bytes | str] | None = None,
    argv: Sequence[str] = (),
    stdin: str = "",
    path: str = "main.py",
    host: Host | None = None,
    **options: Unpack[CallOptions],
) -> Ran:
    """The same for event loops."""
    params = _params(code, files, argv, stdin, path)
    return _ran(await (host or _shared()).acall(PYTHON_SKILL, params, **_quietly(options)))


def run_step(code: str, host: Host | None, options: CallOptions) -> tuple[Report, dict[str, Any]]:
    """A step of an agent, whose names stay in the session of the options."""
    params: dict[str, Any] = {**_params(code, None, (), "", "main.py"), "step": True}
    report = (host or _shared()).call(PYTHON_SKILL, params, **_quietly(options))
    result = report.result
    if not isinstance(result, dict) or not {"output", "final", "error"} <= result.keys():
        raise BadProgram("the program returned something else than a step does")
    return report, cast("dict[str, Any]", result)


def _shared() -> Host:
    from .skillware.isolation import shared_host

    return shared_host()


def _quietly(options: CallOptions) -> CallOptions:
    return {**options, "validate": False}


def _params(
    code: str, files: Mapping[str, bytes | str] | None, argv: Sequence[str], stdin: str, path: str
) -> dict[str, Any]:
    given = {check_path(name): one.encode() if isinstance(one, str) else one for name, one in (files or {}).items()}
    if len(given) > MAX_FILES or sum(map(len, given.values())) > MAX_FILE_BYTES:
        raise BadProgram(f"a program has at most {MAX_FILES} files and {MAX_FILE_BYTES} bytes of them")
    encoded = {name: base64.b64encode(one).decode() for name, one in given.items()}
    return {"code": code, "files": encoded, "argv": list(argv), "stdin": stdin, "path": check_path(path)}


def check_path(name: str) -> str:
    """A relative path that stays where it is laid."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or not name.isprintable():
        raise BadProgram(f"{name!r} is no path in a program's folder")
    return str(PurePosixPath(name))


def _ran(report: Report) -> Ran:
    result = report.result
    try:
        exit_code = int(result["exit_code"])
        written = {
            check_path(str(name)): base64.b64decode(text, validate=True) for name, text in result["files"].items()
        }
    except (TypeError, KeyError, AttributeError, ValueError, binascii.Error):
        raise BadProgram("the program gave back something else than files") from None
    if len(written) > MAX_FILES:
        raise BadProgram(f"the program wrote more than {MAX_FILES} files")
    return Ran(exit_code, report.stdout, report.stderr, written, report)
