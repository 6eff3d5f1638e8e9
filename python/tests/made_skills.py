"""Skills that tests write for themselves."""

from __future__ import annotations

from pathlib import Path

SKILL = """
from skillware.core.base_skill import BaseSkill

class {name}(BaseSkill):
    @property
    def manifest(self):
        return {{}}

    def execute(self, params):
{body}
"""


def write_skill(
    folder: Path,
    body: str,
    *,
    name: str = "Made",
    manifest: str = "",
    before: str = "",
    files: dict[str, str] | None = None,
) -> Path:
    """A skill with this body of `execute`."""
    folder.mkdir(parents=True, exist_ok=True)
    indented = "\n".join(f"        {line}" for line in body.strip().splitlines())
    (folder / "skill.py").write_text(before + SKILL.format(name=name, body=indented))
    head = f"name: test/{folder.name}\nversion: 0.1.0\ndescription: Made for a test.\n"
    (folder / "manifest.yaml").write_text(manifest if manifest.startswith("name:") else head + manifest)
    for path, text in (files or {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder
