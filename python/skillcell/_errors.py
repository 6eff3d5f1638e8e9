"""What a call or a host raises. A skill's own words (`Error.message`, say) are in the report as they are; in the text of
an exception they are escaped, since it is printed on terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._skillcell import escape_text

if TYPE_CHECKING:
    from ._skillcell import Denial, Error, Report


class SkillcellError(Exception):
    """The base of all that this package raises of its own."""


class HostError(SkillcellError):
    """The host can't do its part: no such skill, no room on the disk, a folder that can't be mounted.

    Never what a skill did; that is an outcome, see `CallError`."""

    #: What a person can do about it.
    hint: str | None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint is not None:
            self.add_note(f"hint: {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.hint)


class CallError(SkillcellError):
    """A call that did not return. `report` has all there is to tell about it."""

    report: Report

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.report), {"__notes__": getattr(self, "__notes__", [])}


class Raised(CallError):
    """The skill raised, or its result is not JSON."""

    @property
    def error(self) -> Error:
        """The exception, as the skill's author would see it."""
        error = self.report.error
        assert error is not None
        return error

    @property
    def type(self) -> str:
        """The class, with its module unless it is built in."""
        return self.error.type

    @property
    def message(self) -> str:
        """`str()` of the exception, in the skill's own words."""
        return self.error.message

    @property
    def traceback(self) -> str:
        """The traceback in the cell."""
        return self.error.traceback


class Crashed(Raised):
    """The interpreter in the cell failed in a way that no skill raises. The host is unharmed."""


class Refused(CallError):
    """Policy said no, before anything of the skill ran."""

    @property
    def denials(self) -> list[Denial]:
        """What was refused, and what would allow it."""
        return self.report.denials


class Exceeded(CallError):
    """A limit ended the call."""

    @property
    def limit(self) -> str:
        """Which: `deadline`, `memory`, …"""
        return self.report.limit or ""

    @property
    def error(self) -> Error | None:
        """The exception that the skill saw for it, if it did."""
        return self.report.error


class Cancelled(CallError):
    """Whoever made the call ended it. Not `asyncio.CancelledError`: that is what a cancelled `acall` raises."""


class Busy(CallError):
    """No place for another cell came free within the call's deadline. Nothing ran: it may be made again."""


def exception_of(report: Report) -> CallError:
    """The exception for a report whose call did not return."""
    skill, error = escape_text(report.skill), report.error
    match report.outcome:
        case "raised":
            assert error is not None
            crashed = error.type == "CellCrash" and not error.traceback
            text = escape_text(f"{error.type}: {error.message}")
            raised = (Crashed if crashed else Raised)(f"`{skill}` raised {text}", report)
            if error.traceback:
                raised.add_note(f"In the cell:\n{escape_text(error.traceback.rstrip())}")
            return raised
        case "refused":
            refused = Refused(f"`{skill}` was refused: {'; '.join(_escaped_messages(report))}", report)
            for denial in report.denials:
                if denial.hint is not None:
                    refused.add_note(f"hint: {escape_text(denial.hint)}")
            return refused
        case "exceeded":
            limit = report.limit or ""
            return Exceeded(f"`{skill}` went over a limit: {_LIMITS.get(limit, limit)}", report)
        case "cancelled":
            return Cancelled(f"the call of `{skill}` was cancelled", report)
        case "busy":
            return Busy(f"no place for a cell of `{skill}` came free in time", report)
        case other:
            return CallError(f"the call of `{skill}` ended as {other}", report)


#: Those whose name does not say what the skill ran into.
_LIMITS = {
    "recursion": "recursion: nested calls used up the 32 MiB of native stack that a cell has; no option moves this, and the other "
    "tiers have more",
}


def _escaped_messages(report: Report) -> list[str]:
    return [escape_text(denial.message) for denial in report.denials]
