"""`SkillLoader` as Skillware has it, whose skills run in cells. Adapters and discovery are Skillware's own where it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillcell import Host, HostError, Skill

from .isolated import IsolatedSkill, isolated_class, isolated_module
from .isolation import Isolation, default_isolation
from .metadata import class_name, read_card, read_manifest, read_text

if TYPE_CHECKING:
    from .plain import PlainLoader as BaseLoader
else:
    try:
        from skillware.core.loader import SkillLoader as BaseLoader
    except ImportError:
        from .plain import PlainLoader as BaseLoader


class SkillLoader(BaseLoader):
    """Loads skills as Skillware's `SkillLoader` does. Of a skill's code nothing is imported here: not when it is loaded, not when it
    is called."""

    @staticmethod
    def load_skill(
        skill_path: str,
        *,
        check_requirements: bool = True,
        execute_module: bool = True,
        isolation: Isolation | None = None,
    ) -> dict[str, Any]:
        """A bundle: `manifest`, `instructions`, `card`, `registry_id`, and `class` and `module` unless `execute_module` is false.

        `check_requirements` has no effect: what a skill requires is resolved for its cell, and packages of this process are neither
        used nor looked for.
        """
        return load_bundle(skill_path, execute_module=execute_module, isolation=isolation or default_isolation())

    @staticmethod
    def execute_isolated(
        skill: Any,
        params: Any,
        timeout: float | None = 30,
        *,
        config: dict[str, Any] | None = None,
        isolation: Isolation | None = None,
    ) -> Any:
        """Calls a skill in a cell: a bundle, its class, an instance of it, a path or an id."""
        return _instance_of(skill, config, isolation).execute(params, timeout=timeout)


def load_bundle(name: str, *, execute_module: bool, isolation: Isolation) -> dict[str, Any]:
    """What `SkillLoader.load_skill` gives."""
    host = isolation.the_host()
    folder = _find_folder(name)
    skill = _find_skill(host, str(folder or name))
    manifest = read_manifest(host, skill)
    bundle: dict[str, Any] = {
        "manifest": manifest,
        "instructions": read_text(skill, "instructions.md"),
        "card": read_card(skill),
        "registry_id": _registry_id(skill, folder, manifest),
        "module": None,
        "class": None,
    }
    if execute_module:
        bundle["class"] = isolated_class(skill, manifest, class_name(skill), isolation)
        bundle["module"] = isolated_module(folder, bundle["class"])
    return bundle


def _find_folder(name: str) -> Path | None:
    """Where Skillware finds it: it also knows the roots of its configuration. Without Skillware the host looks for it."""
    find = getattr(BaseLoader, "_resolve_skill_path", None)
    return find(str(name)) if find is not None else None


def _find_skill(host: Host, name: str) -> Skill:
    try:
        return host.skill(name)
    except HostError as error:
        # Skillware's word for it.
        raise FileNotFoundError(str(error)) from None


def _registry_id(skill: Skill, folder: Path | None, manifest: Mapping[str, Any]) -> str | None:
    """`category/name`, with Skillware's warning if the manifest says otherwise."""
    check = getattr(BaseLoader, "_validate_manifest_identity", None)
    if check is not None and folder is not None:
        found: str | None = check(folder, manifest)
        return found
    return skill.id if "/" in skill.id else None


def _instance_of(skill: Any, config: dict[str, Any] | None, isolation: Isolation | None) -> IsolatedSkill:
    if isinstance(skill, IsolatedSkill):
        return skill
    if isinstance(skill, Mapping):
        return _instance_of(skill.get("class") or _folder_of(skill), config, isolation)
    if isinstance(skill, type) and issubclass(skill, IsolatedSkill):
        return skill(config)
    if isinstance(skill, str | Path):
        made = load_bundle(str(skill), execute_module=True, isolation=isolation or default_isolation())["class"](config)
        assert isinstance(made, IsolatedSkill)
        return made
    raise TypeError(f"{type(skill).__name__} is no skill that runs in cells: give a path, an id or a bundle")


def _folder_of(bundle: Mapping[str, Any]) -> str:
    """Of a bundle without class."""
    if not bundle.get("registry_id"):
        raise TypeError("the bundle has no class and no id: load it with execute_module=True")
    return str(bundle["registry_id"])
