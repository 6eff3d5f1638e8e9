"""Failures: what they are called, what they say, and the exceptions that carry them."""

import json
import os

from .messages import JSON_MESSAGES, MESSAGES
from .shown import shorten, show_type

_VERSION = "2.14"


class Line:
    """One thing that is wrong: a kind, where, with what input."""

    __slots__ = ("kind", "loc", "input", "ctx", "custom")

    def __init__(self, kind, input, ctx=None, loc=(), custom=None):
        self.kind, self.loc, self.input, self.ctx, self.custom = kind, tuple(loc), input, ctx, custom

    def within(self, *outer):
        return Line(self.kind, self.input, self.ctx, (*outer, *self.loc), self.custom)

    def message(self, json_input=False):
        if self.custom is not None:
            return self.custom
        return render(self.kind, self.ctx or {}, json_input)


class Failure(Exception):
    """Validation failed: how this package says so to itself."""

    def __init__(self, lines):
        self.lines = lines

    def within(self, *outer):
        return Failure([line.within(*outer) for line in self.lines])


def fail(kind, input, **ctx):
    return Failure([Line(kind, input, ctx or None)])


def render(kind, ctx, json_input=False):
    template = (JSON_MESSAGES.get(kind) if json_input else None) or MESSAGES[kind]
    return fill(template, ctx)


def fill(template, ctx):
    if ctx:
        values = dict(ctx)
        for name in ("min_length", "max_length", "max_digits", "decimal_places", "whole_digits"):
            if name in values:
                values["expected_plural"] = "" if values[name] == 1 else "s"
        if values.get("actual_length", 0) is None:
            values["actual_length"] = "more"
        for name, value in values.items():
            template = template.replace("{" + name + "}", str(value))
    return template


class PydanticOmit(Exception):
    """This field, or item, is to be left out."""

    def __repr__(self):
        return "PydanticOmit()"


class PydanticUseDefault(Exception):
    """The default is to be used instead."""

    def __repr__(self):
        return "PydanticUseDefault()"


class PydanticCustomError(ValueError):
    """A failure with a kind and a message of one's own."""

    def __init__(self, error_type, message_template, context=None, /):
        self.type, self.message_template, self.context = error_type, message_template, context

    def message(self):
        return fill(self.message_template, self.context)

    def __str__(self):
        return self.message()

    def __repr__(self):
        return f"{self.message()} [type={self.type}, context={self.context!r}]"

    def line(self, input):
        return Line(self.type, input, self.context, custom=self.message())


class PydanticKnownError(ValueError):
    """A failure of a known kind."""

    def __init__(self, error_type, context=None, /):
        if error_type not in MESSAGES:
            raise KeyError(f"Invalid error type: '{error_type}'")
        self.type, self.context = error_type, context
        self.message_template = MESSAGES[error_type]

    def message(self):
        return render(self.type, self.context or {})

    def __str__(self):
        return self.message()

    def __repr__(self):
        return f"{self.message()} [type={self.type}, context={self.context!r}]"

    def line(self, input):
        return Line(self.type, input, self.context)


class PydanticSerializationError(ValueError):
    """A value can't be serialized."""


class PydanticSerializationUnexpectedValue(ValueError):
    """A value is not of the type that its schema has."""

    def __init__(self, message=None, /):
        super().__init__(message or "Unexpected Value")


class SchemaError(Exception):
    """A core schema can't be understood."""

    def error_count(self):
        return 1

    def errors(self):
        return [{"type": "schema_error", "loc": (), "msg": str(self), "input": None}]


class ValidationError(ValueError):
    """Validation failed: what is wrong, line by line."""

    def __new__(cls, *args):
        if not args:
            raise TypeError("No constructor defined for ValidationError")
        return super().__new__(cls, *args)

    def __init__(self, title, lines, json_input=False, hide_input=False):
        self.title, self._lines = title, lines
        self._json_input, self._hide_input = json_input, hide_input

    @classmethod
    def from_exception_data(cls, title, line_errors, input_type="python", hide_input=False):
        lines = []
        for found in line_errors:
            kind, loc, input = found["type"], found.get("loc", ()), found["input"]
            if isinstance(kind, PydanticCustomError):
                lines.append(Line(kind.type, input, kind.context, loc, kind.message()))
            elif kind not in MESSAGES:
                raise KeyError(f"Invalid error type: '{kind}'")
            else:
                ctx = found.get("ctx")
                if "{" in MESSAGES[kind] and not ctx:
                    raise TypeError(f"{kind}: 'ctx' required")
                lines.append(Line(kind, input, ctx, loc))
        return cls(title, lines, input_type == "json", hide_input)

    def error_count(self):
        return len(self._lines)

    def errors(self, *, include_url=True, include_context=True, include_input=True):
        found = []
        for line in self._lines:
            entry = {"type": line.kind, "loc": line.loc, "msg": line.message(self._json_input)}
            if include_input:
                entry["input"] = line.input
            if include_context and line.ctx:
                entry["ctx"] = dict(line.ctx)
            if include_url and line.custom is None:
                entry["url"] = f"https://errors.pydantic.dev/{_VERSION}/v/{line.kind}"
            found.append(entry)
        return found

    def json(self, *, indent=None, include_url=True, include_context=True, include_input=True):
        from .serialize import to_jsonable_python

        found = self.errors(include_url=include_url, include_context=include_context, include_input=include_input)
        plain = to_jsonable_python(found, serialize_unknown=True)
        return json.dumps(plain, indent=indent, ensure_ascii=False, separators=None if indent else (",", ":"))

    def __str__(self):
        number = len(self._lines)
        text = [f"{number} validation error{'' if number == 1 else 's'} for {self.title}"]
        urls = os.environ.get("PYDANTIC_ERRORS_INCLUDE_URL", "1") in ("1", "true")
        for line in self._lines:
            if line.loc:
                text.append(".".join(f"`{part}`" if isinstance(part, str) and "." in part else str(part) for part in line.loc))
            shown = f"  {line.message(self._json_input)} [type={line.kind}"
            if not self._hide_input:
                shown += f", input_value={shorten(line.input)}, input_type={show_type(line.input)}"
            text.append(shown + "]")
            if urls and line.custom is None:
                text.append(f"    For further information visit https://errors.pydantic.dev/{_VERSION}/v/{line.kind}")
        return "\n".join(text)

    __repr__ = __str__

    def __reduce__(self):
        return ValidationError, (self.title, self._lines, self._json_input, self._hide_input)


def list_all_errors():
    return [{"type": kind, "message_template_python": text} for kind, text in MESSAGES.items()]
