"""Stands for the folder beside matplotlib in which it has its fonts, styles and settings.

The runtime's packages lie in a zip, so nothing beside a module is a file. The host shows these as files elsewhere, and
matplotlib is told so: it looks beside its own `__file__`, once, while it is imported.
"""

import contextlib
import importlib.machinery
import os
import sys

#: crates/cell/src/wasi_python.rs has the same place.
_ELSEWHERE = "/usr/local/lib/matplotlib/__init__.py"


class _Finder:
    """Finds `matplotlib` as ever, with a loader that says where it is."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "matplotlib":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    def __init__(self, plain):
        self._plain = plain

    def create_module(self, spec):
        return self._plain.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._plain
        file, module.__file__ = module.__file__, _ELSEWHERE
        try:
            self._plain.exec_module(module)
        finally:
            module.__file__ = file


def tidy():
    """Before an image is taken: matplotlib keeps its list of fonts in a file for the next process, and fonts open. In an
    image the list is in memory; a file that is left behind would have every call import the skill anew."""
    manager = sys.modules.get("matplotlib.font_manager")
    if manager is None:
        return
    with contextlib.suppress(Exception):  # whatever a skill made of it
        manager._get_font.cache_clear()
    import shutil

    for folder in (".cache", ".config"):
        folder = os.path.join("/home/skill", folder)
        shutil.rmtree(os.path.join(folder, "matplotlib"), ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def install():
    sys.meta_path.insert(0, _Finder)
