"""`run_python`: a program in a cell, for what a model wrote and for scripts of skills. The runners for frameworks sit on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ._errors import SkillcellError
from ._host import Host, shared_host
from ._skillcell import Program

if TYPE_CHECKING:
    from typing import Unpack

    from ._options import CallOptions
    from ._skillcell import Report

MAX_FILES = 1_000
MAX_FILE_BYTES = 256 << 20


class BadProgram(SkillcellError, ValueError):
    """A program, or a file of it, that can't be run."""


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
    program = make_program(code, files, argv, stdin, path)
    return _ran((host or shared_host()).call(program, **options))


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
    program = make_program(code, files, argv, stdin, path)
    return _ran(await (host or shared_host()).acall(program, **options))


def make_program(
    code: str, files: Mapping[str, bytes | str] | None, argv: Sequence[str], stdin: str, path: str
) -> Program:
    """A program whose files stay in its folder."""
    given = {check_path(name): content for name, content in (files or {}).items()}
    path = check_path(path)
    if len(given) < len(files or {}):
        raise BadProgram("two of the files have the same path")
    _check_folders({*given, path})
    try:
        return Program(code, path=path, files=given, argv=list(argv), stdin=stdin)
    except ValueError as error:
        raise BadProgram(str(error)) from None


def check_path(name: str) -> str:
    """A relative path that stays where it is laid."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name or not name.isprintable():
        raise BadProgram(f"{name!r} is no path in a program's folder")
    return str(PurePosixPath(name))


def _check_folders(paths: set[str]) -> None:
    for name in paths:
        if not paths.isdisjoint(map(str, PurePosixPath(name).parents)):
            raise BadProgram(f"{name!r} is in a folder that is a file too")


def _ran(report: Report) -> Ran:
    if report.exit_code is None:
        report.raise_for_outcome()
        raise BadProgram("the program did not come to its end")
    return Ran(report.exit_code, report.stdout, report.stderr, report.files, report)
