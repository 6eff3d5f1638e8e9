"""`SkillContext` of Skillware, over the loader of this package."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .isolation import Isolation, default_isolation
from .loader import load_bundle

if TYPE_CHECKING:
    _SkillContext = Any
else:
    from skillware.context import SkillContext as _SkillContext


class SkillContext(_SkillContext):
    """Skillware's context of several skills. `isolation` is how they are called; the rest is Skillware's."""

    skill_ids: list[str]

    def __init__(self, *, isolation: Isolation | None = None, **settings: Any) -> None:
        self._isolation = isolation or default_isolation()
        super().__init__(**settings)

    def _load(self, skill_id: str, execute_module: bool) -> dict[str, Any]:
        return load_bundle(skill_id, execute_module=execute_module, isolation=self._isolation)

    def _load_bundles(self) -> None:
        for skill_id in self.skill_ids:
            try:
                bundle = self._load(skill_id, self.mode == "directives")
                if self._matches_taxonomy_filters(bundle["manifest"]):
                    self._bundles[skill_id] = bundle
            except Exception as error:
                self.warnings.append(f"Skipped {skill_id!r}: {error}")
        self.skill_ids = [one for one in self.skill_ids if one in self._bundles]

    def brief(self, skill_id: str) -> str:
        """A line about a skill."""
        with self._loaded(skill_id):
            return str(super().brief(skill_id))

    def prepare(self, skill_id: str) -> Any:
        """A skill with its directive, ready to be called."""
        if self._bundles.get(skill_id, {}).get("class") is None:
            self._bundles[skill_id] = self._load(skill_id, True)
            if skill_id not in self.skill_ids:
                self.skill_ids.append(skill_id)
        return super().prepare(skill_id)

    @contextmanager
    def _loaded(self, skill_id: str) -> Iterator[None]:
        """With a bundle of a skill that the context does not have, for as long as this lasts: Skillware's own loader would load
        it otherwise."""
        known = skill_id in self._bundles
        if not known:
            self._bundles[skill_id] = self._load(skill_id, False)
        try:
            yield
        finally:
            if not known:
                self._bundles.pop(skill_id, None)
