"""How skills are called: the host, and what every one of them is granted. Not what single skills are granted: that is in the
policy file of the host, and in approvals."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillcell import Host


@dataclass(frozen=True, kw_only=True)
class Isolation:
    """How skills are called.

    host: who calls them; without one, a host with the settings of the environment that all of them share.
    timeout: seconds that a call may take; without it, the host's limit.
    secret_hosts: for the name of a credential, the hosts that it may be sent to. The skill gets a placeholder.
    plain: names of `env_vars` that are no secrets (an address, a path, an URL): the skill sees their values.
    call: any other arguments of `Host.call`: `allow_http`, `mounts`, `tier`, `audit`, …
    """

    host: Host | None = None
    timeout: float | None = None
    secret_hosts: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    plain: Collection[str] = ()
    call: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def the_host(self) -> Host:
        """The host that was given, or the shared one."""
        return self.host if self.host is not None else shared_host()


_lock = threading.Lock()
_shared: Host | None = None
_default = Isolation()


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


def configure(isolation: Isolation | None = None, **settings: Any) -> Isolation:
    """Sets how skills are called from now on where a call does not say it itself; gives what held before."""
    global _default
    before, _default = _default, isolation if isolation is not None else Isolation(**settings)
    return before


def default_isolation() -> Isolation:
    """What `configure` set."""
    return _default
