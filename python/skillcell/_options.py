"""The keyword arguments of hosts and calls, for type checkers and readers. docs/reference/python.md has them as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict

from ._skillcell import Secret, Session, Skill

#: A path, as `os.fspath` takes it.
Path: TypeAlias = str | PathLike[str]
#: A skill that was found, or what names one: a folder or an id.
SkillName: TypeAlias = Skill | str | PathLike[str]
#: Bytes, or a text such as `"64M"`.
Size: TypeAlias = int | str
#: Seconds, a text such as `"500ms"`, or a `timedelta`.
Time: TypeAlias = float | str | timedelta
#: Texts in the grammar of the flags; a single one need not be in a list.
Texts: TypeAlias = str | Iterable[str]
#: A tier, or how to choose one.
Tier: TypeAlias = Literal["auto", "isolated", "wasm", "container", "subprocess", "in_process"]


class LimitOptions(TypedDict, total=False):
    """What a call may use. docs/reference/limits.md says what each bounds."""

    timeout: Time | None
    memory: Size | None
    max_stdout: Size | None
    max_stderr: Size | None
    max_result: Size | None
    max_open_files: int | None
    max_scratch: Size | None
    max_scratch_files: int | None
    max_host_calls: int | None
    max_inflated: Size | None
    fuel: int | None


class GrantOptions(TypedDict, total=False):
    """What a skill may do; nothing unless it is granted. docs/reference/grants.md has the grammar."""

    allow_http: Texts | None
    deny_http: Texts | None
    resolve: Texts | None
    mounts: Texts | None
    #: Texts: `NAME=env:VARIABLE@HOST`. Or a `Secret`, which has its value.
    secrets: Secret | str | Iterable[str | Secret] | None
    #: By name; `None` takes the value that this process has. Or texts: `NAME`, `NAME=VALUE`.
    env: Mapping[str, str | None] | Texts | None
    allow_imports: Texts | None
    deny_imports: Texts | None


class CallOptions(LimitOptions, GrantOptions, total=False):
    """What `call`, `acall` and `plan` take besides skill and params."""

    #: What the skill's constructor gets.
    config: Mapping[str, Any] | None
    #: Where to execute it; the strongest tier that will do if it is not given.
    tier: Tier | None
    #: A file that the call's decisions are recorded in, instead of the host's.
    audit: Path | None
    #: Rewrite paths of mounted folders in the params to the cell's, and back in the result.
    map_paths: bool | None
    #: Check the params against the manifest's JSON Schema first; on unless it is turned off.
    validate: bool | None
    #: Start from the skill's image; on unless it is turned off.
    use_image: bool | None
    #: Let a skill that nobody vouches for run without isolation, if `tier` asks for that.
    trust_remote_code: bool | None
    #: Make it in the cell that the last call with this session left.
    session: Session | None
    #: Kinds of notes to leave out of the report.
    acknowledge: Texts | None


class HostOptions(LimitOptions, GrantOptions, total=False):
    """What a `Host` is made with. docs/reference/settings.md describes the settings."""

    policy: Path | None
    cache_dir: Path | None
    approvals_dir: Path | None
    max_images: Size | None
    offline: bool | None
    from_wheel: Path | Iterable[Path] | None
    ca_file: Path | Iterable[Path] | None
    proxy: str | None
    python: Path | None
    container_base: str | None
    container_build_network: bool | None
    audit: Path | None
    #: How many calls of event loops may run at once.
    threads: int | None
