"""What the interpreter has of the modules that a skill imports, found by asking it."""

import importlib
import importlib.machinery
import os
import sys

from skillcell_guest.analysis import tried

_MOST_MODULES = 400
#: Importing these does something.
_NOT_TRIED = {"antigravity", "this", "idlelib", "turtledemo", "test", "__main__"}
_STANDINS = os.path.join("skillcell_guest", "standins", "modules")


def known(files):
    """Each module that is not the skill's own: `stdlib`, `stand-in`, `lacking`, `runtime`, `framework`, `absent`."""
    wanted = {}
    for facts in files.values():
        for item in facts["imports"]:
            if not item["to"] and item["m"] and not item["m"].startswith("."):
                for name in (item["m"], *(f"{item['m']}.{inner}" for inner in item["n"])):
                    wanted[name] = name == item["m"]
    found = {}
    for name in sorted(wanted)[:_MOST_MODULES]:
        kind = _kind(name)
        # `from package import name`: only if that is a module of its own
        if wanted[name] or kind[0] not in ("absent", "lacking") or name.partition(".")[0] == "google":
            found[name] = kind
    return found


def sort_out(files, found):
    """Of the names in modules of the standard library, only those that are not there matter: `found` gets them as `no
    name`, and references to others are dropped."""
    is_stdlib = lambda name: name.partition(".")[0] in sys.stdlib_module_names  # noqa: E731
    for facts in files.values():
        for item in facts["imports"]:
            if not item["to"] and found.get(item["m"], [""])[0] in ("stdlib", "stand-in"):
                for name in item["n"]:
                    _has_name(item["m"], name, found)
        kept = [ref for ref in facts["refs"] if not is_stdlib(ref["m"]) or not _has_name(ref["m"], ref["n"], found)]
        facts["refs"] = kept


def _has_name(module, name, found):
    """Said of what is no module as well: nothing is known of it."""
    loaded = sys.modules.get(module)
    if loaded is None or module.partition(".")[0] in _NOT_TRIED or tried.has(loaded, name):
        return True
    found[f"{module}.{name}"] = ["no name", ""]
    return False


def _kind(name):
    top = name.partition(".")[0]
    if top in ("skillware", "skills"):
        return ["skillware", ""]
    if top in sys.stdlib_module_names:
        return _stdlib(name, top)
    spec = _spec(name)
    if spec is None:
        return ["absent", ""]
    place = spec.origin or (list(spec.submodule_search_locations or ()) or [""])[0]
    return ["framework" if "site-packages" in place else "runtime", ""]


def _stdlib(name, top):
    if top in _NOT_TRIED:
        return ["stdlib", ""]
    try:
        module = importlib.import_module(name)
    except Exception as error:
        return ["lacking", str(error)[:200]]
    return ["stand-in" if _STANDINS in (getattr(module, "__file__", None) or "") else "stdlib", ""]


def _spec(name):
    """Like `importlib.util.find_spec`, but no package around it is imported."""
    places, spec = None, None
    parts = name.split(".")
    for depth in range(len(parts)):
        full = ".".join(parts[: depth + 1])
        spec = _find(full, places)
        if spec is None:
            return None
        places = spec.submodule_search_locations
        if places is None and depth < len(parts) - 1:
            return None
    return spec


def _find(name, places):
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, places)
        except (ImportError, AttributeError, ValueError, TypeError):
            continue
        if spec is not None:
            return spec
    return None
