"""`Host` with `acall`: the rest of it is in Rust. And the host of whoever named none."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ._skillcell import Host as _NativeHost
from ._skillcell import Inbox

if TYPE_CHECKING:
    from typing import Unpack

    from ._options import CallOptions, SkillName
    from ._skillcell import Program, Report

#: The inbox of each event loop that made a call. A loop watches its inbox, and so keeps it for as long as it lives.
_inboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, Inbox] = WeakKeyDictionary()
# A loop that a fork inherits would share its inbox with the parent.
os.register_at_fork(after_in_child=_inboxes.clear)


class Host(_NativeHost):
    """Runs skills in cells. Make one, keep it, call it from any thread or event loop.

    All options are keyword arguments, with the names and the meaning of the keys in `skillcell.toml`; what is not given is
    taken from the `SKILLCELL_…` variables and the file that `policy` names. Limits and grants are for every call of this
    host; a call may set others, and add grants. After a `fork`, the child has a host of its own, with the same settings.
    """

    async def acall(self, skill: SkillName | Program, params: Any = None, **options: Unpack[CallOptions]) -> Report:
        """Like `call`, for event loops: it never blocks the loop, and ends the call when its task is cancelled."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Report] = loop.create_future()
        call = self._start(_inbox_of(loop), future, skill, params, options)
        try:
            return await future
        except BaseException:
            # Does nothing if the call has ended.
            call.cancel()
            raise


def _inbox_of(loop: asyncio.AbstractEventLoop) -> Inbox:
    inbox = _inboxes.get(loop)
    if inbox is None:
        inbox = _inboxes[loop] = Inbox()
        loop.add_reader(inbox.fileno(), inbox.deliver)
    return inbox


_lock = threading.Lock()
_shared: Host | None = None


def shared_host() -> Host:
    """One host for all of this process. Hosts know when they were forked."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = Host()
        return _shared


def _renew_lock() -> None:
    # Another thread may have held it when the process was forked.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)
