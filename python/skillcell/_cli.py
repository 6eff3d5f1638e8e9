"""The command `skillcell`, which comes with the wheel: the same program as the one that Cargo builds."""

from __future__ import annotations

import signal
import sys

from ._skillcell import run_command


def main() -> int:
    """Runs the command line of this process, and returns its exit code."""
    # As in the program: Ctrl-C ends it at once. Python's own handler would wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(sys.argv)
