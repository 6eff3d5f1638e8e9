"""Microsoft Agent Framework: the scripts of file-based skills, in cells.

SkillsProvider.from_paths("./skills", script_runner=CellScriptRunner())
"""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .. import Host
from .._python import MAX_FILE_BYTES, MAX_FILES, BadProgram, arun_python

if TYPE_CHECKING:
    from .. import CallOptions


class CellScriptRunner:
    """A `SkillScriptRunner`. The script gets a copy of its skill's folder as working folder; what it writes there is gone
    afterwards, and its name is told to the model. Options are those of `Host.call`."""

    def __init__(self, host: Host | None = None, **options: Unpack[CallOptions]) -> None:
        self.host = host
        self.options = options

    async def __call__(self, skill: Any, script: Any, args: dict[str, Any] | list[str] | None = None) -> str:
        """What the script wrote, for the model. The skill is a `FileSkill`, the script a `FileSkillScript`."""
        folder = Path(skill.path)
        path = Path(script.full_path).relative_to(folder).as_posix()
        files = read_folder(folder)
        if not path.endswith(".py") or path not in files:
            return f"`{path}` is no Python script of this skill: a cell runs nothing else"
        code = files[path].decode("utf-8")
        ran = await arun_python(code, files=files, argv=words_of(args), path=path, host=self.host, **self.options)
        parts = [ran.stdout, f"stderr:\n{ran.stderr}" if ran.stderr else ""]
        parts.append(f"exit code {ran.exit_code}" if ran.exit_code else "")
        parts.append(f"files written, and gone: {', '.join(sorted(ran.files))}" if ran.files else "")
        return "\n".join(part for part in parts if part)


def words_of(args: dict[str, Any] | list[str] | None) -> list[str]:
    """Arguments as a command line has them."""
    if isinstance(args, dict):
        return [word for name, value in args.items() for word in _flag(name, value)]
    return [str(one) for one in args or []]


def _flag(name: str, value: Any) -> list[str]:
    if value is None or value is False:
        return []
    return [f"--{name}"] if value is True else [f"--{name}", str(value)]


def read_folder(folder: Path) -> dict[str, bytes]:
    """A skill's files, within bounds. Links and what is no plain file are left out."""
    found: dict[str, bytes] = {}
    room = MAX_FILE_BYTES
    for parent, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in (".git", "__pycache__", "node_modules", ".venv")]
        for name in files:
            path = Path(parent) / name
            if path.is_symlink() or not path.is_file():
                continue
            with open(path, "rb") as file:
                content = file.read(room + 1)
            room -= len(content)
            if room < 0 or len(found) >= MAX_FILES:
                raise BadProgram(f"the skill has more than {MAX_FILES} files or {MAX_FILE_BYTES} bytes")
            found[path.relative_to(folder).as_posix()] = content
    return found
