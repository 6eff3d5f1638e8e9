"""Reads a skill's files without running them: the manifest as PyYAML sees it, and what its Python imports."""

import ast
import importlib.util
import os
import sys

from skillcell_guest import early, failure, load

#: Files of a skill that are about it, not part of it.
_NOT_THE_SKILL = ("test_", "conftest")


def look(folder):
    manifest, manifest_error = {}, None
    try:
        manifest = load.read_manifest(folder)
    except Exception as error:
        manifest_error = failure.message(error)
    imports, errors = _imports(folder)
    return {
        "manifest": manifest,
        "manifest_error": manifest_error,
        "imports": imports,
        "early_imports": early.imports(folder),
        "syntax_errors": errors,
    }


def _imports(folder):
    """Top-level modules by kind, each with the first place that imports it."""
    found, errors = {}, []
    for path in _python_files(folder):
        place = os.path.relpath(path, folder)
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read(), place)
        except (SyntaxError, ValueError) as error:
            errors.append(f"{place}: {failure.message(error)}")
            continue
        for node in ast.walk(tree):
            for name in _names(node):
                found.setdefault(name, f"{place}:{node.lineno}")
    kinds = {}
    for name in sorted(found):
        kinds.setdefault(_kind(name, folder), {})[name] = found[name]
    return kinds, errors


def _python_files(folder):
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith(_NOT_THE_SKILL):
                yield os.path.join(root, name)


def _names(node):
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        return [node.module.split(".")[0]]
    return []


def _kind(name, folder):
    if name in ("skillware", "skills"):
        return "skillware"
    if os.path.exists(os.path.join(folder, name + ".py")) or os.path.isdir(os.path.join(folder, name)):
        return "own"
    if name in sys.stdlib_module_names:
        return "stdlib"
    try:
        return "available" if importlib.util.find_spec(name) else "missing"
    except (ImportError, ValueError):
        return "missing"
