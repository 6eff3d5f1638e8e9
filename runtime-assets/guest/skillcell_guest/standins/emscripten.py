"""Stands for what CPython for Emscripten leaves to JavaScript, in the runtime that is built for it and run without.

Its C library waits by asking the clock again and again, so `time.sleep` waits in `poll`, which is the host's. urllib3 and
httpx2 would fetch through a browser; here they have the sockets that every library has (`network`). What this cannot do: waiting inside of a
wheel's own native code is still a loop.
"""

import math
import select
import sys
import time
import types

_plain_sleep = time.sleep
#: Seconds that `sleep` waits at once, and from which on it is too long for anybody.
_PIECE, _TOO_LONG = 1_000_000, 1 << 33


def install():
    """Before other stand-ins take `time.sleep` by name."""
    if sys.platform == "emscripten":
        time.sleep = sleep
        # Its own has no OpenSSL behind it. As elsewhere in cells, there is none until the stand-in can be found.
        sys.modules["ssl"] = None
        module = types.ModuleType("urllib3.contrib.emscripten", __doc__)
        module.inject_into_urllib3 = lambda: None
        sys.modules[module.__name__] = module
        module = types.ModuleType("httpx2_jsfetch", __doc__)
        module.__getattr__ = _transport
        sys.modules[module.__name__] = module


def forget_ssl():
    """From here on `import ssl` finds the stand-in."""
    if sys.modules.get("ssl", True) is None:
        del sys.modules["ssl"]


def _transport(name):
    """What httpx2 takes from its package for browsers: its own transports."""
    if not name.endswith("JavascriptFetchTransport"):
        raise AttributeError(name)
    from httpx2._transports import default

    return getattr(default, name.replace("JavascriptFetch", "HTTP"))


def sleep(seconds, /):
    if not isinstance(seconds, (int, float)):
        seconds = float(seconds) if hasattr(seconds, "__float__") else seconds
    if not isinstance(seconds, (int, float)) or not 0 < seconds < _TOO_LONG:
        return _plain_sleep(seconds)  # nothing to wait for, or not a time
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        select.poll().poll(math.ceil(min(left, _PIECE) * 1000))
