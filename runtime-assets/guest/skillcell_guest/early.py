"""What importing a skill is certain to import, read from its own files without running them.

It follows `skill.py` through the files that it imports, and takes the statements that run whenever a module is imported:
not those in functions, under an `if`, or where an `ImportError` is caught, since a skill may do without those.
"""

import ast
import os

#: More names than this are not told, nor more files read.
_MOST_NAMES, _MOST_FILES = 256, 256
_CATCHES_IT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def imports(folder, start="skill.py"):
    """Dotted names, each with the first place that imports it."""
    found, seen, ahead = {}, set(), [start]
    bases = dict.fromkeys((os.path.dirname(start), ""))
    while ahead and len(seen) < _MOST_FILES:
        place = ahead.pop(0)
        if place in seen:
            continue
        seen.add(place)
        for node in _statements(_parsed(folder, place)):
            for name in _names(node, os.path.dirname(place)):
                files = [os.path.join(base, file) for base in bases for file in _files_of(name)]
                files = [file for file in files if os.path.isfile(os.path.join(folder, file))]
                ahead += files
                if not files and len(found) < _MOST_NAMES:
                    found.setdefault(name.replace("/", "."), f"{place}:{node.lineno}")
    return found


def _parsed(folder, place):
    try:
        with open(os.path.join(folder, place), "rb") as file:
            return ast.parse(file.read(), place).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []  # importing it will say so


def _statements(body):
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, (ast.With, ast.ClassDef)):
            yield from _statements(node.body)
        elif isinstance(node, ast.Try) and not any(map(_catches, node.handlers)):
            yield from _statements(node.body + node.orelse + node.finalbody)


def _catches(handler):
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or not isinstance(kind, ast.Name) or kind.id in _CATCHES_IT for kind in kinds)


def _names(node, package):
    """With `/` between the parts: as paths from the skill's folder, where they are."""
    if isinstance(node, ast.Import):
        return [alias.name.replace(".", "/") for alias in node.names]
    base = (node.module or "").replace(".", "/")
    if node.level:
        base = os.path.normpath(os.path.join(package, "../" * (node.level - 1), base)).lstrip("./")
    return [f"{base}/{alias.name}".lstrip("/") for alias in node.names]


def _files_of(name):
    """The skill's files that importing this may run: the module, its packages, and what holds the name."""
    parts = name.split("/")
    for end in range(1, len(parts) + 1):
        yield "/".join(parts[:end]) + ".py"
        yield "/".join(parts[:end]) + "/__init__.py"
