"""What a call that gave no result raises here: the package's own exceptions, in the place of those that a skill raised.

An agent's loop that says `except ValueError` keeps working: an exception of a skill is `Raised`, and also the built-in class
that its name says, or is derived from, if it is in a fixed list. A skill's word is only looked up in that list: nothing is imported by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillcell import CallError, Exceeded, Raised, Report
from skillcell._skillcell import escape_text


class UnboundSecret(PermissionError):
    """A credential was given for a skill, and nobody said which hosts it is for."""


class BadSkill(ValueError):
    """A skill's metadata can't be read."""


if TYPE_CHECKING:

    class SkillwareParamValidationError(ValueError):
        """Params are not what the manifest's `parameters` ask for."""

else:
    try:
        from skillware.core.base_skill import SkillwareParamValidationError
    except ImportError:

        class SkillwareParamValidationError(ValueError):
            """Params are not what the manifest's `parameters` ask for."""


_LIKE: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BlockingIOError,
    BrokenPipeError,
    BufferError,
    ChildProcessError,
    ConnectionAbortedError,
    ConnectionError,
    ConnectionRefusedError,
    ConnectionResetError,
    EOFError,
    FileExistsError,
    FileNotFoundError,
    FloatingPointError,
    ImportError,
    IndentationError,
    IndexError,
    InterruptedError,
    IsADirectoryError,
    KeyError,
    LookupError,
    MemoryError,
    ModuleNotFoundError,
    NameError,
    NotADirectoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    PermissionError,
    ProcessLookupError,
    RecursionError,
    ReferenceError,
    RuntimeError,
    SyntaxError,
    SystemError,
    TimeoutError,
    TypeError,
    UnboundLocalError,
    UnicodeError,
    ValueError,
    ZeroDivisionError,
)
_NAMED: dict[str, type[Exception]] = {
    **{one.__name__: one for one in _LIKE},
    # Of the standard library, with what they are derived from: they can't be made of a text, or are no built-in classes.
    **dict.fromkeys(("UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError"), UnicodeError),
    **dict.fromkeys(("json.decoder.JSONDecodeError", "binascii.Error"), ValueError),
    **dict.fromkeys(("urllib.error.URLError", "urllib.error.HTTPError", "socket.gaierror"), OSError),
    "skillware.core.base_skill.SkillwareParamValidationError": SkillwareParamValidationError,
}


def result_of(report: Report) -> Any:
    """The result, or the exception that stands for the outcome."""
    try:
        return report.result
    except CallError as error:
        raise likened(error) from None


def likened(error: CallError) -> CallError:
    """The same exception, which is also one of the class that the skill's was."""
    if isinstance(error, Raised):
        return _also(error, _NAMED.get(error.type))
    if isinstance(error, Exceeded) and error.limit == "deadline":
        return _also(error, TimeoutError)
    return error


def _also(error: CallError, like: type[Exception] | None) -> CallError:
    """The same exception, which is also one of the class `like`, and says what a skill's exception said."""
    if like is None:
        return error

    def take_apart(_: object) -> tuple[Any, ...]:
        # The class can't be found by its name: it is made again of what it was made of.
        return likened, (error,)

    members = {"__module__": __name__, "__str__": _message, "__init__": _ignore, "__reduce__": take_apart}
    # `MemoryError` is a first base or none: Python makes its objects in another way.
    bases = (like, type(error)) if like is MemoryError else (type(error), like)
    kind: type[CallError] = type(like.__name__, bases, members)
    text = escape_text(error.report.error.message) if error.report.error is not None else str(error)
    made = kind.__new__(kind, text)
    made.args = (text,)
    vars(made).update(vars(error))
    return made


def _message(error: Exception) -> str:
    return str(error.args[0])


def _ignore(*_: object) -> None:
    """Some built-in classes take arguments that only a real failure has."""
