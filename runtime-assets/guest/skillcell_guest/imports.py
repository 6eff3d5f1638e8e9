"""Imports that the operator denies: an early message that says so. It guards nothing: a skill could undo it.

Whoever imports a denied module, or one below it, gets an `ImportError`: the skill, and libraries on its behalf. What the
framework's image has loaded stays loaded and goes on working for those that already hold it, and our own modules are
left alone. `recorded` is the other half: it learns what a skill imports while its image is made, so that the host knows
for which calls the image will do.
"""

import builtins
import contextlib
import importlib
import sys

_OURS = "skillcell_guest"
_plain_import = builtins.__import__
_plain_import_module = importlib.import_module
_denied = ()
#: How many imports are under way, one inside the other, while they are recorded.
under_way = 0


def deny(names):
    """From now on, in this cell."""
    global _denied
    _denied = tuple(names)
    builtins.__import__ = _import
    importlib.import_module = _import_module


@contextlib.contextmanager
def recorded():
    """Gives a set that fills with the top-level names that are imported. Where imports are denied, nobody will ask."""
    names = set()
    if _denied:
        yield names
        return
    plain_import, plain_import_module = builtins.__import__, importlib.import_module

    def counted(plain, *words):
        global under_way
        under_way += 1
        try:
            return plain(*words)
        finally:
            under_way -= 1

    def recording_import(name, globals=None, locals=None, fromlist=(), level=0):
        if not level:
            names.add(name.partition(".")[0])
        return counted(plain_import, name, globals, locals, fromlist, level)

    def recording_import_module(name, package=None):
        names.add(name.partition(".")[0])
        return counted(plain_import_module, name, package)

    builtins.__import__, importlib.import_module = recording_import, recording_import_module
    try:
        yield names
    finally:
        # A skill may have put its own in their place, which calls these.
        if builtins.__import__ is recording_import:
            builtins.__import__ = plain_import
        if importlib.import_module is recording_import_module:
            importlib.import_module = plain_import_module


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if not level and not _is_ours(globals):
        _check(name)
        for item in fromlist or ():
            if isinstance(item, str) and f"{name}.{item}" in sys.modules:
                _check(f"{name}.{item}")
    return _plain_import(name, globals, locals, fromlist, level)


def _import_module(name, package=None):
    if not name.startswith("."):
        _check(name)
    return _plain_import_module(name, package)


def _is_ours(globals):
    name = (globals or {}).get("__name__")
    return isinstance(name, str) and name.partition(".")[0] == _OURS


def _check(name):
    for denied in _denied:
        if name == denied or name.startswith(denied + "."):
            raise ImportError(
                f"the operator denies importing {name!r} (`--deny-import {denied}`, or `deny_import` in the policy file)",
                name=name,
            )
