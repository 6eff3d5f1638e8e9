"""What unchanged skills expect of a computer and a cell does not have: the nearest thing that works in one thread,
without processes, sockets or TLS; and where nothing near works, an exception that says so.

Each module here stands for one thing, and its docstring says what that stand-in cannot do. They are installed while the
framework's image is made, so a call pays nothing for them. `modules` holds whole modules that the runtime lacks; it is
on `sys.path`, and they are read only when something imports them.
"""

import os
import sys


def install():
    from skillcell_guest.standins import emscripten

    emscripten.install()
    from skillcell_guest.standins import (
        absent, accounts, errors, executors, hashes, jpeg, locks, loop, modes, network, plots, processes, signals, threads,
        writes,
    )  # fmt: skip

    # Before the standard library where that has modules of these names and nothing behind them.
    first = 0 if sys.platform == "emscripten" else 1
    sys.path.insert(first, os.path.join(os.path.dirname(__file__), "modules"))
    emscripten.forget_ssl()
    for standin in (
        errors, accounts, locks, threads, executors, network, processes, signals, modes, loop, hashes, jpeg, plots,
        absent, writes,
    ):  # fmt: skip
        standin.install()
