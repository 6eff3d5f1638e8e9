"""Makes a fresh interpreter ready for skills. Run once per runtime; what it leaves in memory is the framework image."""

import io
import os
import sys


def boot():
    sys.stdout = sys.__stdout__ = _stream(1, "<stdout>", "strict")
    sys.stderr = sys.__stderr__ = _stream(2, "<stderr>", "backslashreplace")
    os.environ.pop("PYTHONHOME", None)  # one runtime finds its library by it, and nobody else needs it
    # Before anything that a stand-in replaces could be taken by name.
    from skillcell_guest import standins

    standins.install()
    import skillcell_guest.call
    import skillcell_guest.load
    import skillware.core.base_skill
    import skillware.core.loader
    _rehearse_a_failure()


def _rehearse_a_failure():
    """Describing an exception imports half a dozen modules; in the image they are there."""
    from skillcell_guest import failure

    try:
        exec(compile("(lambda: undefined_name)()", "<rehearsal>", "exec"))
    except NameError as error:
        failure.trace(error)


def _stream(descriptor, name, errors):
    """Without a buffer: a call that is ended from outside flushes nothing, and what was printed must be out already."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    raw.name = name
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, newline="\n", write_through=True)
