"""The class that a bundle has in the place of the skill's own: each `execute` runs in a cell. Nothing of the skill is here but
its name and its manifest."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from skillcell import Report, Skill

from .credentials import CredentialFunction, bind_credentials
from .errors import SkillwareParamValidationError, result_of
from .isolation import Isolation
from .metadata import check_params

if TYPE_CHECKING:
    from .plain import PlainSkill as BaseSkill
else:
    try:
        from skillware.core.base_skill import BaseSkill
    except ImportError:
        from .plain import PlainSkill as BaseSkill

_log = logging.getLogger("skillcell.skillware")


class IsolatedSkill(BaseSkill):
    """A skill whose code never runs in this process. Made by `isolated_class`.

    Each call is a fresh cell: what `execute` keeps in `self` is gone after it. `last_report` has the report of the latest call.
    """

    _skill: Skill
    _manifest: Mapping[str, Any]
    _isolation: Isolation
    last_report: Report | None = None

    def __init__(self, config: dict[str, Any] | None = None, credential_fn: CredentialFunction | None = None) -> None:
        super().__init__(config, credential_fn)

    @property
    def manifest(self) -> dict[str, Any]:
        """A copy of what `manifest.yaml` says."""
        return copy.deepcopy(dict(self._manifest))

    def execute(self, params: Any, *, timeout: float | None = None) -> Any:
        """Calls the skill in a cell, for at most `timeout` seconds."""
        options = self._options(timeout)
        return self._finish(self._isolation.the_host().call(self._skill, params, **options))

    async def aexecute(self, params: Any, *, timeout: float | None = None) -> Any:
        """The same for `asyncio`: the loop goes on meanwhile, and cancelling the task ends the call."""
        options = self._options(timeout)
        return self._finish(await self._isolation.the_host().acall(self._skill, params, **options))

    def validate_params(self, params: Any) -> bool:
        """True, or Skillware's exception. The schema is applied in a cell."""
        given: object = params
        if not isinstance(given, dict) and self._manifest.get("parameters"):
            name = self._manifest.get("name", "unknown_skill")
            raise SkillwareParamValidationError(
                f"Skill '{name}' expects parameter arguments as a JSON object (dict), got {type(params).__name__}."
            )
        check_params(self._isolation.the_host(), self._manifest, params)
        return True

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"`{name}`: what the skill's own code defines or sets is in its cell only, not on `{type(self).__name__}`"
        )

    def _options(self, timeout: float | None) -> dict[str, Any]:
        """The arguments of `Host.call`."""
        bound = bind_credentials(self._manifest, self.config, self._credential_fn, self._isolation)
        given = dict(self._isolation.call)
        given["env"] = {**(given.get("env") or {}), **bound.env}
        given["secrets"] = [*(given.get("secrets") or []), *bound.secrets]
        # As Skillware has it: `execute` checks nothing, `validate_params` and `SkillContext` do.
        given.setdefault("validate", False)
        limit = timeout if timeout is not None else self._isolation.timeout
        return {**given, "config": bound.config, **({} if limit is None else {"timeout": limit})}

    def _finish(self, report: Report) -> Any:
        self.last_report = report
        for name, text in (("stdout", report.stdout), ("stderr", report.stderr)):
            if text:
                _log.debug("%s of %s: %r", name, report.skill, text)
        return result_of(report)


class IsolatedModule(ModuleType):
    """Stands for `skill.py`, which is not imported: it has the skill's class, and nothing else."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"`{name}` is in a `skill.py` that runs in cells and is not imported here")


def isolated_class(
    skill: Skill, manifest: Mapping[str, Any], name: str | None, isolation: Isolation
) -> type[IsolatedSkill]:
    """A class for this skill, by the name that its own class has."""
    members = {"_skill": skill, "_manifest": manifest, "_isolation": isolation, "__doc__": f"`{skill.id}`, in a cell."}
    return type(name or "IsolatedSkill", (IsolatedSkill,), {**members, "__module__": __name__})


def isolated_module(folder: Path | None, skill_class: type[IsolatedSkill]) -> IsolatedModule:
    """A module for a bundle."""
    module = IsolatedModule("skill_module", "Runs in cells; nothing of it was imported.")
    module.__file__ = None if folder is None else str(folder / "skill.py")
    vars(module)[skill_class.__name__] = skill_class
    return module
