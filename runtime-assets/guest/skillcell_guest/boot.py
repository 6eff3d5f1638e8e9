"""Makes a fresh interpreter ready for skills. Run once per runtime; what it leaves in memory is the framework image."""

import sys


def boot():
    import skillcell_guest.call
    import skillcell_guest.load
    import skillware.core.base_skill
    import skillware.core.loader
    import traceback
