"""Stands for libjpeg in Pillow: the runtime's Pillow was built without it.

When `PIL.Image` is imported, the two functions that a Pillow with libjpeg has get added; `skillcell_guest.jpeg` is behind
them, and is imported, with numpy, when one is called for the first time. What it can't do is in its modules:
arithmetic and lossless coding. TIFF files with JPEG in them need libtiff, which is not there either.
"""

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
    from skillcell_guest.jpeg import codec

    return codec.Decoder(mode, *args)


def _encoder(mode, *args):
    from skillcell_guest.jpeg import codec

    return codec.Encoder(mode, *args)


def install():
    sys.meta_path.insert(0, _Finder)
