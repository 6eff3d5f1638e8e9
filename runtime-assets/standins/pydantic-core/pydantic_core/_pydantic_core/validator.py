"""`SchemaValidator`: what pydantic calls."""

import json

from . import validate_collections, validate_composite, validate_models, validate_scalars, validate_times, validate_urls
from .errors import Failure, SchemaError, ValidationError, fail
from .known import lacking
from .state import Build, State, check_text

_KINDS_ARE_IN = (
    validate_collections, validate_composite, validate_models, validate_scalars, validate_times, validate_urls,
)


def error_of(failure, title, state, config=None):
    config = config or {}
    error = ValidationError(title, failure.lines, state.mode == "json", config.get("hide_input_in_errors", False))
    return error


def raise_error(failure, title, state, config=None):
    raise error_of(failure, title, state, config) from None


class SchemaValidator:
    """Validates by a core schema."""

    def __init__(self, schema, config=None, _use_prebuilt=True):
        self._schema, self._config = schema, config
        if not isinstance(schema, dict) or "type" not in schema:
            raise SchemaError(f"Invalid Schema: {schema!r}")
        self._validate = Build(config, {}).make(schema)
        self.title = (config or {}).get("title") or self._validate.name
        if schema["type"] in ("model", "dataclass"):
            self.title = (schema.get("config") or {}).get("title") or (config or {}).get("title") or self._validate.name

    def __reduce__(self):
        return SchemaValidator, (self._schema, self._config)

    def __repr__(self):
        return f'SchemaValidator(title="{self.title}", validator=…)'

    def _run(self, value, state):
        try:
            return self._validate(value, state)
        except Failure as failure:
            raise_error(failure, self.title, state, self._config)

    def validate_python(
        self, input, *, strict=None, extra=None, from_attributes=None, context=None, self_instance=None,
        allow_partial=False, by_alias=None, by_name=None,
    ):
        _no_partial(allow_partial)
        state = State("python", strict, context, from_attributes, extra, by_alias, by_name)
        state.self_instance = self_instance
        return self._run(input, state)

    def isinstance_python(self, input, **kwargs):
        try:
            self.validate_python(input, **kwargs)
        except ValidationError:
            return False
        return True

    def validate_json(
        self, input, *, strict=None, extra=None, context=None, self_instance=None, allow_partial=False,
        by_alias=None, by_name=None,
    ):
        _no_partial(allow_partial)
        state = State("json", strict, context, None, extra, by_alias, by_name)
        state.self_instance = self_instance
        try:
            if not isinstance(input, (str, bytes, bytearray)):
                raise fail("json_type", input)
            value = from_json(input)
        except ValueError as problem:
            raise_error(fail("json_invalid", input, error=str(problem)), self.title, state, self._config)
        except Failure as failure:
            raise_error(failure, self.title, state, self._config)
        return self._run(value, state)

    def validate_strings(
        self, input, *, strict=None, extra=None, context=None, allow_partial=False, by_alias=None, by_name=None,
    ):
        _no_partial(allow_partial)
        state = State("strings", strict, context, None, extra, by_alias, by_name)
        try:
            check_text(input, state)
        except Failure as failure:
            raise_error(failure, self.title, state, self._config)
        return self._run(input, state)

    def validate_assignment(
        self, obj, field_name, field_value, *, strict=None, extra=None, from_attributes=None, context=None,
        by_alias=None, by_name=None,
    ):
        state = State("python", strict, context, from_attributes, extra, by_alias, by_name)
        assign = getattr(self._validate, "assign_to", None)
        if assign is None:
            raise lacking("validate_assignment of this kind of schema")
        try:
            return assign(obj, field_name, field_value, state)
        except Failure as failure:
            raise_error(failure, self.title, state, self._config)

    def get_default_value(self, *, strict=None, context=None):
        default = getattr(self._validate, "default", None)
        state = State("python", strict, context)
        try:
            return default(state) if default else None
        except Failure as failure:
            raise_error(failure, self.title, state, self._config)


def _no_partial(allow_partial):
    if allow_partial not in (False, None, "off"):
        raise NotImplementedError("not available in a skillcell cell: pydantic's allow_partial")


def from_json(data, *, allow_inf_nan=True, cache_strings=True, allow_partial=False):
    """JSON as Python values."""
    _no_partial(allow_partial)
    if not isinstance(data, (str, bytes, bytearray)):
        raise TypeError(f"Expected bytes, bytearray or str, got {type(data).__name__}")
    try:
        return json.loads(data)
    except json.JSONDecodeError as problem:
        raise ValueError(_told(problem, data)) from None


def _told(problem, data):
    """The decoder's complaint in the words of the native one, where they are known."""
    text = problem.doc
    line, column = problem.lineno, problem.colno
    if problem.pos >= len(text.rstrip()) or "Unterminated" in problem.msg:
        what = "a string" if "Unterminated" in problem.msg else "a value" if problem.pos == 0 or problem.msg == "Expecting value" else "an object"
        return f"EOF while parsing {what} at line {text.count(chr(10)) + 1} column {len(text) - (text.rfind(chr(10)) + 1)}"
    if problem.msg == "Expecting value":
        return f"expected value at line {line} column {column}"
    if problem.msg == "Extra data":
        return f"trailing characters at line {line} column {column}"
    if problem.msg.startswith("Expecting property name"):
        return f"key must be a string at line {line} column {column}"
    return f"{problem.msg} at line {line} column {column}"
