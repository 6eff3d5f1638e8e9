"""Stands for libjpeg in Pillow: the runtime's Pillow was built without it.

When `PIL.Image` is imported, the two functions that a Pillow with libjpeg has get added; `skillcell_guest.jpeg` is behind
them, and is imported, with numpy, when one is called for the first time. What it can't do is in its modules:
arithmetic and lossless coding. TIFF files with JPEG in them need libtiff, which is not there either.
"""

import contextlib
import importlib.machinery
import sys


class _Finder:
    """Finds `PIL.Image` as ever, with a loader that adds to it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "PIL.Image":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    def __init__(self, plain):
        self._plain = plain

    def create_module(self, spec):
        return self._plain.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._plain
        self._plain.exec_module(module)
        add_to(module.core)


def add_to(core):
    """`core` is Pillow's own module in C; `PIL.features` looks there, too."""
    if not hasattr(core, "jpeg_decoder"):
        core.jpeg_decoder, core.jpeg_encoder = _decoder, _encoder
        # The interface of libjpeg that Pillow's other builds report.
        core.jpeglib_version = "6.2"


def _decoder(mode, *args):
    return _codec().Decoder(mode, *args)


def _encoder(mode, *args):
    return _codec().Encoder(mode, *args)


@contextlib.contextmanager
def own_numpy():
    """Callers are told when a skill has numpy. If only the codec has it, it is not in `sys.modules` afterwards, until somebody
    imports it, who then gets the same one."""
    is_ours = "numpy" not in sys.modules
    try:
        yield
    finally:
        if is_ours and (module := sys.modules.pop("numpy", None)) is not None:
            sys.meta_path.insert(0, _Again(module))


def _codec():
    if "skillcell_guest.jpeg.codec" not in sys.modules:
        with own_numpy():
            from skillcell_guest.jpeg import codec
        codec.Decoder.decode = own_numpy()(codec.Decoder.decode)
        codec.Encoder.encode = own_numpy()(codec.Encoder.encode)
    return sys.modules["skillcell_guest.jpeg.codec"]


class _Again:
    """Finds numpy, once, where it is already."""

    def __init__(self, module):
        self._module, self._spec = module, module.__spec__

    def find_spec(self, name, path=None, target=None):
        if name != "numpy":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.ModuleSpec(name, self, origin=self._spec.origin, is_package=True)
        spec.submodule_search_locations[:] = self._module.__path__
        return spec

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        module.__spec__ = self._spec


def install():
    sys.meta_path.insert(0, _Finder)
