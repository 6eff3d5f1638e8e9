"""Imports what others wrote, to see what becomes of it in a cell: packages, never a file of the skill.

A wheel of pure Python may still want a library of the system, and one whose dependency is missing may do without it:
neither its metadata nor its name says so.
"""

import importlib
import re
import sys
import types
from importlib import metadata
from urllib.parse import urlsplit

from skillcell_guest import failure

_LONGEST = 300
#: Distributions that a client of a service is built on.
_CLIENTS = {"requests", "httpx", "urllib3", "aiohttp", "httplib2", "niquests", "requests-oauthlib"}
_MOST_ADDRESSES, _MOST_VALUES = 5, 20_000
#: What the stand-in for name resolution says where nothing is granted, as it is here: nothing but a grant is missing.
_DENIED = re.compile(r"not available in a skillcell cell: network \(the address of '([^']+)'\)")


def tried(modules, names):
    """`modules` are imported; `names` are pairs of a module and a name that is used of it. Gives how imports failed, which
    did not, and the names that a module does not have."""
    failed, fine = {}, []
    for module in modules:
        try:
            importlib.import_module(module)
            fine.append(module)
        except BaseException as error:  # one that ends the interpreter would be no answer
            failed[module] = _failed(error)
    absent = {}
    for module, name in names:
        if module in sys.modules and (why := _lacks(sys.modules[module], name)) is not None:
            absent[f"{module}.{name}"] = why
    return {"failed": failed, "fine": fine, "absent": absent, "services": _services(fine)}


def _failed(error):
    first, missing, asks = error, None, None
    for _ in range(10):
        if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
            missing = error.name[:200]
        if isinstance(error, OSError) and (found := _DENIED.search(failure.message(error))):
            asks = found[1][:200]
        if (error := error.__cause__ or error.__context__) is None:
            break
    text = " ".join(f"{failure.type_name(first)}: {failure.message(first)}".split())
    kind = "import" if isinstance(first, ImportError) else "os" if isinstance(first, OSError) else "other"
    return {"kind": kind, "text": text[:_LONGEST], "missing": missing, "asks": asks}


def has(module, name):
    """Whether a module has a name, as an attribute or as a module below it."""
    return _lacks(module, name) is None


def _lacks(module, name):
    """How getting a name of a module fails: nothing is said if it just is not there, and `None` if it is."""
    try:
        getattr(module, name)
        return None
    except AttributeError:
        if not hasattr(module, "__path__"):
            return None if name == "*" else {}
    except BaseException as error:  # it is made when it is asked for
        return _failed(error)
    try:
        importlib.import_module(f"{module.__name__}.{name}")
        return None
    except ModuleNotFoundError as error:
        if name == "*":
            return None
        return {} if error.name == f"{module.__name__}.{name}" else _failed(error)
    except BaseException as error:
        return _failed(error)


def _services(modules):
    """Of the modules that are clients of a service, where that is, as far as their own code names it: a client needs one of
    HTTP, and has the address of an interface."""
    found = {}
    try:
        distributions = metadata.packages_distributions()
        for module in modules:
            top = module.partition(".")[0]
            names = {_plain(one) for name in distributions.get(top, ()) for one in metadata.requires(name) or ()}
            if names & _CLIENTS and top.lower() not in _CLIENTS:
                found[module] = sorted({place for text in _texts(top) if (place := _interface(text))})[:_MOST_ADDRESSES]
    except Exception:  # metadata is a stranger's
        pass
    return {module: places for module, places in found.items() if places}


def _plain(requirement):
    """The distribution that a requirement names; nothing for one of an extra."""
    if "extra" in requirement.partition(";")[2]:
        return ""
    end = next((at for at, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), len(requirement))
    return requirement[:end].lower().replace("_", "-")


def _interface(text):
    """The origin of an address that programs ask, not people: `https://api.…`, or a path that begins with `/api` or `/v1`."""
    if not text.startswith("https://") or len(text.split()) != 1 or len(text) > _LONGEST:
        return None
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
    except ValueError:
        return None
    first = parts.path.strip("/").partition("/")[0].lower()
    is_path = first in ("api", "rest", "graphql") or (first[:1] == "v" and first[1:2].isdigit())
    is_host = {"api", "rest", "graph"} & set(host.split(".")[:-2])
    return f"https://{host}" if (is_path or is_host) and host.replace(".", "").replace("-", "").isalnum() else None


def _texts(top):
    """The texts in a package's code, of as much of it as was imported."""
    modules = [module for name, module in list(sys.modules.items()) if name == top or name.startswith(top + ".")]
    pending = [value for module in modules for value in list(vars(module).values())]
    for _ in range(_MOST_VALUES):
        if not pending:
            return
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, types.CodeType):
            pending += value.co_consts
        elif isinstance(value, (tuple, list)):
            pending += value[:100]
        elif isinstance(value, (staticmethod, classmethod)):
            pending.append(value.__func__)
        elif isinstance(value, types.FunctionType):
            pending += [value.__code__, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        elif isinstance(value, type) and value.__module__.partition(".")[0] == top:
            pending += list(vars(value).values())
