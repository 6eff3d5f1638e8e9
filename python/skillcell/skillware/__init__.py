"""Skillware's loader with a wall around the skill.

    from skillcell.skillware import SkillLoader

    bundle = SkillLoader.load_skill("optimization/prompt_rewriter")
    skill = bundle["class"]()
    skill.execute({"raw_text": "Please be so kind as to summarise this.", "compression_aggression": "low"})

is a program for Skillware with another import. Each `execute` runs in a fresh cell; nothing of a skill's code is ever imported
in this process. The package `skillware` is used where it is installed (its adapters, its discovery, `SkillContext`), and not
needed otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillcell._host import shared_host

from .credentials import UnboundSecretWarning
from .errors import BadSkill, SkillwareParamValidationError, UnboundSecret
from .isolated import IsolatedSkill
from .isolation import Isolation, configure, default_isolation
from .loader import SkillLoader
from .patching import Patch, isolate

if TYPE_CHECKING:
    from .context import SkillContext

execute_isolated = SkillLoader.execute_isolated

__all__ = [
    "BadSkill",
    "IsolatedSkill",
    "Isolation",
    "Patch",
    "SkillContext",
    "SkillLoader",
    "SkillwareParamValidationError",
    "UnboundSecret",
    "UnboundSecretWarning",
    "configure",
    "default_isolation",
    "execute_isolated",
    "isolate",
    "shared_host",
]


def __getattr__(name: str) -> Any:
    # Only it needs the package `skillware`.
    if name == "SkillContext":
        from .context import SkillContext

        return SkillContext
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
