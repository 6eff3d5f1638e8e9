"""Imports a skill and constructs it, as Skillware's loader does, and reports on both.

Skillware runs `skill.py` on its own, without a package, so most skills put their folder on `sys.path` and import
siblings by bare name; others use relative imports, which need a package. Here both work: the skill is imported as
`skills.<category>.<name>.skill`, and its folder is on `sys.path`.
"""

import importlib
import os
import sys
import time
import types
import warnings

from skillcell_guest import call, failure


def load(folder, package):
    """Imports the skill in `folder`, to be known as `package`. Gives the report of the bake."""
    before = set(sys.modules)
    started = time.perf_counter()
    manifest = read_manifest(folder)
    call.skill_class = _import(folder, package, manifest)
    imported = time.perf_counter()
    constructor_error = None
    try:
        call.skill = call.skill_class()
    except Exception as error:
        # Not a failure to bake: a skill may refuse to be made without its key, and then says so in each call.
        constructor_error = {
            "type": failure.type_name(error),
            "message": failure.message(error),
            "traceback": failure.trace(error),
        }
    return {
        "manifest": manifest,
        "class": call.skill_class.__name__,
        "imported": sorted(name for name in set(sys.modules) - before if "." not in name),
        "import_ms": (imported - started) * 1e3,
        "construct_ms": (time.perf_counter() - imported) * 1e3,
        "constructor_error": constructor_error,
    }


def read_manifest(folder):
    import yaml

    path = os.path.join(folder, "manifest.yaml")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file) or {}


def _import(folder, package, manifest):
    from skillware.core.extras import build_skill_module_import_error
    from skillware.core.loader import SkillLoader

    _make_packages(folder, package)
    sys.path.insert(0, folder)
    file = os.path.join(folder, "skill.py")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            module = importlib.import_module(package + ".skill")
    except ImportError as error:
        raise ImportError(build_skill_module_import_error(manifest, None, file, error)) from error
    return SkillLoader._discover_skill_class(module, file)


def _make_packages(folder, package):
    """The packages around `skill.py`. Their `__init__.py` is not run, since Skillware's loader does not run it."""
    names = package.split(".")
    for depth in range(len(names), 0, -1):
        module = types.ModuleType(".".join(names[:depth]))
        module.__path__ = [folder]
        sys.modules[module.__name__] = module
        folder = os.path.dirname(folder)
    for depth in range(1, len(names)):
        parent = sys.modules[".".join(names[:depth])]
        setattr(parent, names[depth], sys.modules[".".join(names[: depth + 1])])
