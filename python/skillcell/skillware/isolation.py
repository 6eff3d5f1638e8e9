"""How skills are called: the host, and what every one of them is granted. Not what single skills are granted: that is in the
policy file of the host, and in approvals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillcell import Host
from skillcell._host import shared_host


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


_default = Isolation()


def configure(isolation: Isolation | None = None, **settings: Any) -> Isolation:
    """Sets how skills are called from now on where a call does not say it itself; gives what held before."""
    global _default
    before, _default = _default, isolation if isolation is not None else Isolation(**settings)
    return before


def default_isolation() -> Isolation:
    """What `configure` set."""
    return _default
