"""Stands for the parts of `signal` that the runtime lacks. Handlers can be set; nobody will send a signal."""

import signal

from skillcell_guest.standins import missing


def install():
    signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF = 0, 1, 2
    signal.alarm = _alarm
    signal.setitimer = _setitimer
    signal.getitimer = lambda which: (0.0, 0.0)
    signal.siginterrupt = lambda number, flag: None
    signal.pause = missing.refusing("signal.pause", "signals", "nobody could send one")


def _alarm(seconds, /):
    _setitimer(signal.ITIMER_REAL, seconds)
    return 0


def _setitimer(which, seconds, interval=0.0, /):
    """Turning a timer off is fine: none is on."""
    if seconds:
        raise missing.error("signals (`signal.alarm`)", "a call has a deadline instead, set by the host")
    return 0.0, 0.0
