"""Runs untrusted Python skills: every call in a fresh CPython inside WebAssembly.

    import skillcell

    host = skillcell.Host()
    report = host.call("optimization/prompt_rewriter", {"raw_text": "Could you please help"})
    print(report.result)

A report always comes back; its `result` raises `Raised`, `Refused`, `Exceeded`, … where there is none. `HostError` is what
the host itself can't do. In an event loop, `await host.acall(...)`.
"""

from ._errors import (
    Busy,
    CallError,
    Cancelled,
    Crashed,
    Exceeded,
    HostError,
    Raised,
    Refused,
    SkillcellError,
)
from ._host import Host
from ._options import CallOptions, GrantOptions, HostOptions, LimitOptions
from ._python import BadProgram, Ran, arun_python, run_python
from ._skillcell import Denial, Error, Note, Plan, Report, Secret, Session, Skill, Usage, __version__

__all__ = [
    "BadProgram",
    "Busy",
    "CallError",
    "CallOptions",
    "Cancelled",
    "Crashed",
    "Denial",
    "Error",
    "Exceeded",
    "GrantOptions",
    "Host",
    "HostError",
    "HostOptions",
    "LimitOptions",
    "Note",
    "Plan",
    "Raised",
    "Ran",
    "Refused",
    "Report",
    "Secret",
    "Session",
    "Skill",
    "SkillcellError",
    "Usage",
    "__version__",
    "arun_python",
    "run_python",
]
