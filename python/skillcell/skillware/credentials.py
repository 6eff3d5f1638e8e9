"""Scoped secrets: what a skill's `env_vars` name becomes placeholders that are bound to hosts.

A value comes from `credential_fn`, `config` or the environment, in Skillware's order. What then happens to it:

    named in `secret_hosts`     a placeholder; the value is sent to those hosts only
    named in `plain`            given to the skill as it is
    neither, given explicitly   the call is refused: nobody said where it may go
    neither, in the environment not given, with a warning: the host's variables are not the skill's

A manifest's `permissions` only ask. What of them was approved is granted by the host itself, with values of the environment.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from skillcell import Secret

from .errors import UnboundSecret
from .isolation import Isolation

CredentialFunction = Callable[[str], "str | None"]


class UnboundSecretWarning(UserWarning):
    """A credential of the environment was not given to a skill."""


@dataclass
class Credentials:
    """What a call brings, as arguments of `Host.call`."""

    config: dict[str, Any] | None
    env: dict[str, str] = field(default_factory=dict[str, str])
    secrets: list[str | Secret] = field(default_factory=list[str | Secret])


def bind_credentials(
    manifest: Mapping[str, Any],
    config: Mapping[str, Any],
    credential_fn: CredentialFunction | None,
    isolation: Isolation,
) -> Credentials:
    """What the call of a skill brings."""
    bound = Credentials(config=dict(config) or None)
    for name in variable_names(manifest):
        _bind_one(name, bound, credential_fn, isolation, manifest)
    return bound


def variable_names(manifest: Mapping[str, Any]) -> list[str]:
    """The names under `env_vars`."""
    return [name for name in _mapping(manifest.get("env_vars")) if name.strip()]


def _bind_one(
    name: str,
    bound: Credentials,
    credential_fn: CredentialFunction | None,
    isolation: Isolation,
    manifest: Mapping[str, Any],
) -> None:
    given = _nonblank(credential_fn(name) if credential_fn else None) or _nonblank((bound.config or {}).get(name))
    found = _nonblank(os.environ.get(name))
    if given is None and found is None:
        return
    if name in isolation.plain:
        bound.env[name] = given or found or ""
    elif hosts := isolation.secret_hosts.get(name):
        bound.secrets.append(Secret(name, given or found or "", hosts))
        # The guest puts the placeholder there.
        bound.config = {key: value for key, value in (bound.config or {}).items() if key != name} or None
    elif given is not None:
        raise UnboundSecret(_refusal(name, manifest))
    elif name not in (isolation.call.get("env") or ()) and not _asked_hosts(name, manifest):
        warnings.warn(f"{_refusal(name, manifest)}; it is not given to the skill", UnboundSecretWarning, stacklevel=4)


def _nonblank(value: object) -> str | None:
    text = "" if value is None else str(value).strip()
    return text or None


def _refusal(name: str, manifest: Mapping[str, Any]) -> str:
    hosts = _asked_hosts(name, manifest) or ["HOST"]
    return (
        f"`{name}` is bound to no host: tell `configure` or `Isolation` where it may be sent, "
        f"`secret_hosts={{{name!r}: {hosts!r}}}`, or that it is no secret, `plain=[{name!r}]`"
    )


def _asked_hosts(name: str, manifest: Mapping[str, Any]) -> list[str]:
    """The hosts that the manifest wants it for. A wish: it binds nothing."""
    entries = _mapping(manifest.get("permissions")).get("secrets")
    found = cast("Sequence[Any]", entries) if isinstance(entries, list) else ()
    named = [one for one in map(_mapping, found) if one.get("name") == name]
    hosts: list[Any] = [host for one in named for host in one.get("hosts") or ()]
    return [host for host in hosts if isinstance(host, str)]


def _mapping(value: object) -> dict[str, Any]:
    """A stranger's value as a mapping; an empty one if it is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
