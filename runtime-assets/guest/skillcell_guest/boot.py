"""Makes a fresh interpreter ready for skills. Run once per runtime; what it leaves in memory is the framework image."""


import sys


def boot():
    # A call that is ended from outside flushes nothing: what was printed until then must be out already.
    sys.stdout.reconfigure(line_buffering=True)
    # Before anything that a stand-in replaces could be taken by name.
    from skillcell_guest import standins

    standins.install()
    import skillcell_guest.call
    import skillcell_guest.load
    import skillware.core.base_skill
    import skillware.core.loader
    import traceback
