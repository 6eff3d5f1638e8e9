"""`isolate()`: for programs that can't change an import, the real `skillware` is made to load skills into cells."""

# Others' packages are hardly typed, and need not be installed.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from types import TracebackType
from typing import Any

from .isolation import Isolation, default_isolation
from .loader import SkillLoader, load_bundle

_MISSING = object()


class Patch:
    """Holds from `isolate()` on: to the end of a `with`, to `undo()`, or as long as the process lasts."""

    def __init__(self, isolation: Isolation) -> None:
        from skillware.core.loader import SkillLoader as real

        def load_skill(
            skill_path: str, *, check_requirements: bool = True, execute_module: bool = True
        ) -> dict[str, Any]:
            return load_bundle(skill_path, execute_module=execute_module, isolation=isolation)

        def execute_isolated(skill: Any, params: Any, timeout: float | None = 30, **more: Any) -> Any:
            return SkillLoader.execute_isolated(skill, params, timeout, **{"isolation": isolation, **more})

        self._real: Any = real
        self._before: dict[str, Any] = {}
        # On the class: `SkillContext`, chains and the command line all ask it, whenever they were imported.
        functions: dict[str, Any] = {"load_skill": load_skill, "execute_isolated": execute_isolated}
        for name, function in functions.items():
            self._before[name] = vars(real).get(name, _MISSING)
            setattr(real, name, staticmethod(function))

    def undo(self) -> None:
        """Puts Skillware's own loader back."""
        for name, value in self._before.items():
            if value is _MISSING:
                delattr(self._real, name)
            else:
                setattr(self._real, name, value)
        self._before = {}

    def __enter__(self) -> Patch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.undo()


def isolate(isolation: Isolation | None = None, **settings: Any) -> Patch:
    """Makes `skillware.core.loader.SkillLoader` load skills into cells from now on, for all of the process. The settings are
    those of `Isolation`."""
    return Patch(isolation or (Isolation(**settings) if settings else default_isolation()))
