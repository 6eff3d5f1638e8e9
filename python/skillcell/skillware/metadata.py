"""A skill's metadata, read without running or importing anything of it: `manifest.yaml` by a parser in a cell of its own,
`instructions.md` and `card.json` as the text that they are.

All of it is of the bytes that a call runs on: the host read the folder once, without following links out of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillcell import Host, Skill, SkillcellError

from .errors import BadSkill, SkillwareParamValidationError, result_of

MAX_FILE_BYTES = 1 << 20
#: What reading a manifest, or checking params against its schema, may take.
TIMEOUT_SECONDS = 10.0
_METADATA_SKILL = str(Path(__file__).with_name("metadata_skill"))
# A name with an underscore first could be one that Python gives a meaning.
_CLASS_LINE = re.compile(rb"^class[ \t]+([A-Za-z][A-Za-z0-9_]{0,99})[ \t]*\(([^()\n]*)\)[ \t]*:", re.MULTILINE)


def read_bytes(skill: Skill, name: str) -> bytes:
    """A file of a skill, of the bytes that its digest is of; empty if there is none."""
    try:
        return skill.read(name)
    except KeyError:
        return b""


def read_text(skill: Skill, name: str) -> str:
    """The same as text."""
    content = read_bytes(skill, name)
    if len(content) > MAX_FILE_BYTES:
        raise BadSkill(f"`{name}` of `{skill.id}` has more than {MAX_FILE_BYTES} bytes")
    try:
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise BadSkill(f"`{name}` of `{skill.id}` is no UTF-8") from None


def read_manifest(host: Host, skill: Skill) -> dict[str, Any]:
    """`manifest.yaml` as Skillware's loader has it: with the defaults of its second version."""
    text = read_text(skill, "manifest.yaml")
    try:
        manifest: dict[str, Any] = _ask_cell(host, {"manifest_text": text})
    except (SkillcellError, RecursionError) as error:
        raise BadSkill(f"`manifest.yaml` of `{skill.id}` can't be read: {error}") from None
    return manifest


def read_card(skill: Skill) -> Any:
    """`card.json`."""
    text = read_text(skill, "card.json")
    try:
        return json.loads(text) if text else {}
    except (ValueError, RecursionError):
        raise BadSkill(f"`card.json` of `{skill.id}` is no JSON") from None


def check_params(host: Host, manifest: Mapping[str, Any], params: object) -> None:
    """Raises what Skillware's `validate_params` would. In a cell: the schema's patterns and references are a stranger's."""
    schema = manifest.get("parameters")
    if not schema or not isinstance(schema, dict):
        return
    found = _ask_cell(host, {"manifest": {"name": manifest.get("name", "unknown_skill"), "parameters": schema}, "params": params})
    if "wrong" in found:
        raise SkillwareParamValidationError(str(found["wrong"]))


def class_name(skill: Skill) -> str | None:
    """The name of the one class in `skill.py` that is derived from `BaseSkill`, by its line. Nothing is parsed or run."""
    named = [name for name, bases in _CLASS_LINE.findall(read_bytes(skill, "skill.py")) if b"BaseSkill" in bases]
    return named[0].decode("ascii") if len(named) == 1 else None


def _ask_cell(host: Host, params: dict[str, Any]) -> Any:
    return result_of(host.call(_METADATA_SKILL, params, validate=False, timeout=TIMEOUT_SECONDS))
