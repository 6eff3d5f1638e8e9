"""Makes a fresh interpreter ready for skills. Run once per runtime; what it leaves in memory is the framework image."""


def boot():
    # Before anything that a stand-in replaces could be taken by name.
    from skillcell_guest import standins

    standins.install()
    import skillcell_guest.call
    import skillcell_guest.load
    import skillware.core.base_skill
    import skillware.core.loader
    import traceback
