"""Imports a skill and constructs it, as Skillware's loader does, and reports on both.

Skillware runs `skill.py` on its own, without a package, so most skills put their folder on `sys.path` and import
siblings by bare name; others use relative imports, which need a package. Here both work: the skill is imported as
`skills.<category>.<name>.skill`, and its folder is on `sys.path`.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import time
import warnings

from skillcell_guest import call, failure, imports, watch
from skillcell_guest.standins import network


def load(folder, package):
    """Imports the skill in `folder`, to be known as `package`. Gives the report of the bake."""
    before = set(sys.modules)
    started = time.perf_counter()
    manifest = call.manifest = read_manifest(folder)
    with imports.recorded() as import_names:
        with watch.environment_reads() as read:
            call.skill_class = _import(folder, package, manifest)
        imported = time.perf_counter()
        constructor_error = _construct()
    return {
        "manifest": manifest,
        "class": call.skill_class.__name__,
        "imported": sorted(name for name in set(sys.modules) - before - {"skills"} if "." not in name),
        "import_ms": (imported - started) * 1e3,
        "import_names": sorted(import_names),
        "environment_read": sorted(read),
        "construct_ms": (time.perf_counter() - imported) * 1e3,
        "constructor_error": constructor_error,
    }


def _construct():
    try:
        call.skill = call.skill_class()
    except Exception as error:
        # Not a failure to bake: a skill may refuse to be made without its key, and then says so in each call.
        return failure.describe(error)


def read_manifest(folder):
    import yaml

    path = os.path.join(folder, "manifest.yaml")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file) or {}


def _import(folder, package, manifest):
    from skillware.core.loader import SkillLoader

    _make_packages(folder, package)
    sys.path.insert(0, folder)
    file = os.path.join(folder, "skill.py")
    network.importing = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            module = importlib.import_module(package + ".skill")
    except ImportError as error:
        raise _explained(error, manifest, file) from error
    finally:
        network.importing = False
    return SkillLoader._discover_skill_class(module, file)


def _explained(error, manifest, file):
    """In the words of Skillware's loader, but for its advice to install packages, which is no use here."""
    skill = manifest.get("name") if isinstance(manifest, dict) else None
    text = f"Skill '{skill or 'unknown'}' failed while importing {file}: {error}"
    name = _module(error.name)
    if isinstance(error, ModuleNotFoundError) and name:
        text += f"\nMissing module: {name} (not among the packages that a skillcell cell has)"
    return ImportError(text, name=name, path=error.path)


def _module(name):
    """Where a package looks for the metadata of another, what is missing is a distribution, or a sentence about one."""
    if not isinstance(name, str) or all(part.isidentifier() for part in name.split(".")):
        return name
    quoted = name.split("'")[1] if name.count("'") > 1 else name
    word = "".join(c if c.isalnum() or c in "._-" else " " for c in quoted).split()
    module = word[0].replace("-", "_") if word else ""
    return module if module.isidentifier() else None


def _make_packages(folder, package):
    """The packages around `skill.py`."""
    names = package.split(".")
    for depth in range(len(names), 0, -1):
        name = ".".join(names[:depth])
        # The loader is never asked to run anything; resources and data are found through it.
        loader = importlib.machinery.SourceFileLoader(name, os.path.join(folder, "__init__.py"))
        spec = importlib.machinery.ModuleSpec(name, loader, origin=loader.path, is_package=True)
        spec.submodule_search_locations.append(folder)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        if os.path.exists(loader.path):
            module.__file__ = loader.path
        if depth == len(names):
            module.__getattr__ = _InitWhenAsked(module, os.path.join(folder, "__init__.py"))
        folder = os.path.dirname(folder)
    for depth in range(1, len(names)):
        parent = sys.modules[".".join(names[:depth])]
        setattr(parent, names[depth], sys.modules[".".join(names[: depth + 1])])


class _InitWhenAsked:
    """A skill's `__init__.py` is run, which Skillware's loader never does, once a name is wanted that only it can have."""

    def __init__(self, module, file):
        self._module, self._file = module, file

    def __call__(self, name):
        if self._file is not None and not name.startswith("__") and not self._is_submodule(name):
            self._run()
            if name in self._module.__dict__:
                return self._module.__dict__[name]
        raise AttributeError(f"module {self._module.__name__!r} has no attribute {name!r}", name=name, obj=self._module)

    def _is_submodule(self, name):
        folder = os.path.dirname(self._file)
        return os.path.exists(os.path.join(folder, name + ".py")) or os.path.isdir(os.path.join(folder, name))

    def _run(self):
        file, self._file = self._file, None
        if not os.path.exists(file):
            return
        with open(file, "rb") as source:
            code = compile(source.read(), file, "exec")
        self._module.__file__ = file
        try:
            exec(code, self._module.__dict__)
        except ImportError:
            pass  # it imports from `skill.py`, which is not done yet; what it defined before that is there
