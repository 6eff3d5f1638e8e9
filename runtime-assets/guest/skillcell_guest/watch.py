"""Notices which environment variables are read while a skill is imported.

What a module makes of a variable then is frozen in the image. A call that brings such a variable must import the skill
itself; any other call need not.
"""

import contextlib
import os

from skillcell_guest import imports

_ALL = "*"


class _Names(set):
    """With those that were read while a module was imported, for whoever records imports too."""

    def __init__(self):
        super().__init__()
        self.importing = set()

    def note(self, name):
        name = name if isinstance(name, str) else _ALL
        self.add(name)
        if imports.under_way:
            self.importing.add(name)


@contextlib.contextmanager
def environment_reads():
    """Gives a set that fills with the names that are asked for; `*` if all of them are looked through."""
    names = _Names()

    class Watched(type(os.environ)):
        def __getitem__(self, name):
            names.note(name)
            return super().__getitem__(name)

        def __contains__(self, name):
            names.note(name)
            return super().__contains__(name)

        def __iter__(self):
            names.note(_ALL)
            return super().__iter__()

    plain = type(os.environ)
    os.environ.__class__ = Watched
    if hasattr(os, "environb"):
        os.environb.__class__ = Watched  # its names are bytes: any read counts as all
    try:
        yield names
    finally:
        os.environ.__class__ = plain
        if hasattr(os, "environb"):
            os.environb.__class__ = plain
