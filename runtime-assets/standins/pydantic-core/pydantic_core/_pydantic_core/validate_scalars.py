"""Single values: numbers, texts, bytes, and what is one of a few."""

import decimal
import enum
import fractions
import math
import re
import uuid

from .errors import Failure, fail
from .patterns import Pattern
from .shown import listed
from .state import LAX, STRICT, State, kind, named

_BOUNDS = (
    ("multiple_of", "multiple_of"), ("le", "less_than_equal"), ("lt", "less_than"), ("ge", "greater_than_equal"),
    ("gt", "greater_than"),
)
_TRUE = {"1", "on", "t", "true", "y", "yes"}
_FALSE = {"0", "off", "f", "false", "n", "no"}


def bounds(schema):
    """The checks that a number, or a time, may have."""
    wanted = [(key, error, schema[key]) for key, error in _BOUNDS if schema.get(key) is not None]

    def check(value, original):
        for key, error, limit in wanted:
            if key == "multiple_of":
                rest = value % limit
                if rest and value == value and not (isinstance(value, float) and math.isclose(value / limit, round(value / limit), abs_tol=1e-9)):
                    raise fail(error, original, multiple_of=limit)
            elif not _within(key, value, limit):
                raise fail(error, original, **{key: limit})
        return value

    return check if wanted else None


def _within(key, value, limit):
    if key == "le":
        return value <= limit
    if key == "lt":
        return value < limit
    return value >= limit if key == "ge" else value > limit


@kind("any")
def _any(schema, build):
    def validate(value, state):
        state.floor(LAX)
        return value

    return named(validate, "any")


@kind("none")
def _none(schema, build):
    def validate(value, state):
        if value is None or state.mode == "strings" and value == "":
            return None
        raise fail("none_required", value)

    return named(validate, "none")


@kind("ellipsis")
def _ellipsis(schema, build):
    def validate(value, state):
        if value is ...:
            return value
        raise fail("ellipsis_error", value)

    return named(validate, "ellipsis")


@kind("missing-sentinel")
def _missing(schema, build):
    def validate(value, state):
        from pydantic_core import MISSING

        if value is MISSING:
            return value
        raise fail("missing_sentinel_error", value)

    return named(validate, "missing-sentinel")


@kind("bool")
def _bool(schema, build):
    strict = build.setting(schema, "strict", default=False)

    def validate(value, state):
        if value is True or value is False:
            return value
        if not state.strictly(strict) or state.mode == "strings":
            state.floor(LAX)
            if isinstance(value, (bytes, bytearray)):
                value = bytes(value).decode("utf-8", "replace") if state.mode == "python" else value
            if isinstance(value, str):
                text = value.lower()
                if text in _TRUE:
                    return True
                if text in _FALSE:
                    return False
                raise fail("bool_parsing", value)
            if isinstance(value, (int, float, decimal.Decimal)):
                if value == 1:
                    return True
                if value == 0:
                    return False
                whole = math.isfinite(value) and value == int(value) and -(2**63) <= value < 2**63
                raise fail("bool_parsing" if whole else "bool_type", value)
        raise fail("bool_type", value)

    return named(validate, "bool")


def _number_text(text):
    """A number as text, or None: underscores may only stand between digits."""
    text = text.strip()
    if "_" in text:
        if re.search(r"__|^[+-]?_|_$|_\.|\._", text):
            return None
        text = text.replace("_", "")
    return text


def _int_of_text(value, original):
    text = _number_text(value)
    if text is None:
        raise fail("int_parsing", original)
    if len(text) > 4300:
        raise fail("int_parsing_size", original)
    found = re.fullmatch(r"([+-]?\d+)(?:\.0*)?", text, re.ASCII)
    if not found:
        raise fail("int_parsing", original)
    return int(found[1])


@kind("int")
def _int(schema, build):
    strict = build.setting(schema, "strict", default=False)
    check = bounds(schema)

    def validate(value, state):
        result = convert(value, state)
        return check(result, value) if check else result

    def convert(value, state):
        if type(value) is int:
            return value
        is_bool = isinstance(value, bool)
        if isinstance(value, int) and not is_bool:
            state.floor(STRICT)
            return int(value)
        if not state.strictly(strict) or state.mode == "strings":
            state.floor(LAX)
            if is_bool:
                return int(value)
            if isinstance(value, str):
                return _int_of_text(value, value)
            if isinstance(value, (bytes, bytearray)):
                return _int_of_text(bytes(value).decode("utf-8", "replace"), value)
            if isinstance(value, (float, decimal.Decimal, fractions.Fraction)):
                if isinstance(value, float) and not math.isfinite(value):
                    raise fail("finite_number", value)
                if isinstance(value, decimal.Decimal) and not value.is_finite():
                    raise fail("finite_number", value)
                if value != int(value):
                    raise fail("int_from_float", value)
                if isinstance(value, float) and not -(2**63) <= value < 2**63:
                    raise fail("int_parsing_size", value)
                return int(value)
            if isinstance(value, enum.Enum):
                return value.value
        raise fail("int_type", value)

    return named(validate, "constrained-int" if check else "int")


@kind("float")
def _float(schema, build):
    strict = build.setting(schema, "strict", default=False)
    infinite = build.setting(schema, "allow_inf_nan", default=True)
    check = bounds(schema)

    def validate(value, state):
        result = convert(value, state)
        if not infinite and not math.isfinite(result):
            raise fail("finite_number", value)
        return check(result, value) if check else result

    def convert(value, state):
        if type(value) is float:
            return value
        if isinstance(value, float):
            state.floor(STRICT)
            return value
        if not isinstance(value, (str, bytes, bytearray, bool)) and hasattr(type(value), "__float__"):
            state.floor(STRICT)
            return float(value)
        if not state.strictly(strict) or state.mode == "strings":
            state.floor(LAX)
            if isinstance(value, (bytes, bytearray)):
                value, original = bytes(value).decode("utf-8", "replace"), value
            else:
                original = value
            if isinstance(value, str):
                text = _number_text(value)
                try:
                    if text is not None and not text.isascii():
                        raise ValueError
                    return float(text)
                except (TypeError, ValueError):
                    raise fail("float_parsing", original) from None
            if isinstance(value, bool) or hasattr(type(value), "__float__") or hasattr(type(value), "__index__"):
                try:
                    return float(value)
                except (TypeError, ValueError):
                    pass
        raise fail("float_type", value)

    return named(validate, "constrained-float" if check else "float")


@kind("decimal")
def _decimal(schema, build):
    strict = build.setting(schema, "strict", default=False)
    infinite = schema.get("allow_inf_nan", False)
    digits, places = schema.get("max_digits"), schema.get("decimal_places")
    check = bounds(schema)

    def validate(value, state):
        if isinstance(value, decimal.Decimal):
            result = value
        elif state.strictly(strict) and state.mode == "python":
            raise fail("is_instance_of", value, **{"class": "Decimal"})
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            state.floor(LAX)
            try:
                if state.mode == "json" and isinstance(value, float) and value.is_integer():
                    value = int(value)
                result = decimal.Decimal(value if isinstance(value, int) else str(value).strip())
            except decimal.InvalidOperation:
                raise fail("decimal_parsing", value) from None
        elif isinstance(value, tuple) and state.mode == "python":
            try:
                result = decimal.Decimal(value)
            except (ValueError, decimal.InvalidOperation):
                raise fail("decimal_parsing", value) from None
        else:
            raise fail("decimal_type", value)
        if not result.is_finite():
            if not infinite:
                raise fail("finite_number", value)
        elif digits is not None or places is not None:
            _digits(result, value)
        return check(result, value) if check else result

    def _digits(result, value):
        _, found, exponent = result.normalize().as_tuple()
        decimals, total = (-exponent, max(len(found), -exponent)) if exponent < 0 else (0, len(found) + exponent)
        if digits is not None and total > digits:
            raise fail("decimal_max_digits", value, max_digits=digits)
        if places is not None and decimals > places:
            raise fail("decimal_max_places", value, decimal_places=places)
        if digits is not None and places is not None and total - decimals > digits - places:
            raise fail("decimal_whole_digits", value, whole_digits=digits - places)

    return named(validate, "decimal")


@kind("fraction")
def _fraction(schema, build):
    strict = build.setting(schema, "strict", default=False)
    check = bounds(schema)

    def validate(value, state):
        if isinstance(value, fractions.Fraction):
            result = value
        elif state.strictly(strict) and state.mode == "python":
            raise fail("is_instance_of", value, **{"class": "Fraction"})
        elif state.mode == "json" and isinstance(value, bool):
            raise fail("fraction_type", value)
        elif isinstance(value, (int, float, str, decimal.Decimal)):
            state.floor(LAX)
            try:
                result = fractions.Fraction(value)
            except (ValueError, ZeroDivisionError, OverflowError):
                raise fail("fraction_parsing", value) from None
        else:
            raise fail("fraction_type", value)
        return check(result, value) if check else result

    return named(validate, "fraction")


@kind("complex")
def _complex(schema, build):
    strict = build.setting(schema, "strict", default=False)

    def validate(value, state):
        if isinstance(value, complex):
            return value
        if not state.strictly(strict) or state.mode != "python":
            state.floor(LAX)
            if isinstance(value, str):
                try:
                    return complex(value)
                except ValueError:
                    raise fail("complex_str_parsing", value) from None
            if isinstance(value, (int, float)) and not (state.mode == "json" and isinstance(value, bool)):
                return complex(value)
            if state.mode == "python" and isinstance(value, (decimal.Decimal, fractions.Fraction)):
                return complex(value)
        raise fail("complex_type", value)

    return named(validate, "complex")


@kind("str")
def _str(schema, build):
    strict = build.setting(schema, "strict", default=False)
    strip = build.setting(schema, "strip_whitespace", "str_strip_whitespace", False)
    lower = build.setting(schema, "to_lower", "str_to_lower", False)
    upper = build.setting(schema, "to_upper", "str_to_upper", False)
    shortest = build.setting(schema, "min_length", "str_min_length")
    longest = build.setting(schema, "max_length", "str_max_length")
    numbers = build.setting(schema, "coerce_numbers_to_str", default=False)
    ascii_only = schema.get("ascii_only")
    pattern = schema.get("pattern")
    matcher = _matcher(pattern, build.setting(schema, "regex_engine", default="rust-regex"))
    limited = strip or lower or upper or shortest is not None or longest is not None or pattern or ascii_only

    def validate(value, state):
        text = convert(value, state)
        if not limited:
            return text
        if strip:
            text = text.strip()
        if longest is not None and len(text) > longest:
            raise fail("string_too_long", value, max_length=longest)
        if shortest is not None and len(text) < shortest:
            raise fail("string_too_short", value, min_length=shortest)
        if ascii_only and not text.isascii():
            raise fail("string_not_ascii", value)
        if matcher and not matcher.search(text):
            raise fail("string_pattern_mismatch", value, pattern=matcher.pattern)
        return text.lower() if lower else text.upper() if upper else text

    def convert(value, state):
        if type(value) is str:
            return value
        if isinstance(value, str):
            state.floor(STRICT)
            return value.value if isinstance(value, enum.Enum) else str.__str__(value)
        if not state.strictly(strict):
            state.floor(LAX)
            if isinstance(value, (bytes, bytearray)):
                try:
                    return bytes(value).decode()
                except UnicodeDecodeError:
                    raise fail("string_unicode", value) from None
            if isinstance(value, enum.Enum):
                return str(value.value)
            if numbers and isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool):
                return str(value)
        raise fail("string_type", value)

    return named(validate, "constrained-str" if limited else "str")


def _matcher(pattern, engine):
    if not isinstance(pattern, str):
        return pattern
    return Pattern(pattern) if engine == "rust-regex" else re.compile(pattern)


@kind("bytes")
def _bytes(schema, build):
    strict = build.setting(schema, "strict", default=False)
    shortest, longest = schema.get("min_length"), schema.get("max_length")
    encoding = build.config.get("val_json_bytes", "utf8")

    def validate(value, state):
        result = convert(value, state)
        if shortest is not None and len(result) < shortest:
            raise fail("bytes_too_short", value, min_length=shortest)
        if longest is not None and len(result) > longest:
            raise fail("bytes_too_long", value, max_length=longest)
        return result

    def convert(value, state):
        if isinstance(value, bytes):
            return value
        if state.mode == "json" and isinstance(value, str) or not state.strictly(strict):
            if isinstance(value, str):
                state.floor(LAX)
                return _decode(value, encoding if state.mode == "json" else "utf8")
            if isinstance(value, bytearray):
                state.floor(LAX)
                return bytes(value)
        raise fail("bytes_type", value)

    return named(validate, "bytes")


def _decode(text, encoding):
    import base64

    try:
        if encoding == "base64":
            return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "=" * (-len(text) % 4))
        return bytes.fromhex(text) if encoding == "hex" else text.encode()
    except ValueError as problem:
        raise fail("bytes_invalid_encoding", text, encoding=encoding, encoding_error=str(problem)) from None


@kind("literal")
def _literal(schema, build):
    expected = schema["expected"]
    has_numbers = any(type(choice) is int for choice in expected)

    def validate(value, state):
        if has_numbers and type(value) is int and not -(2**63) <= value < 2**63:
            raise fail("int_parsing_size", value)
        for choice in expected:
            if type(value) is type(choice) and value == choice:
                return choice
        for choice in expected:
            if not isinstance(choice, enum.Enum) and _equal(value, choice):
                return choice
            if state.mode == "strings" and str(choice) == value:
                return choice
        raise fail("literal_error", value, expected=listed(expected))

    return named(validate, f"literal[{','.join(map(repr, expected))}]")


def _equal(value, choice):
    try:
        return bool(value == choice)
    except Exception:
        return False


@kind("enum")
def _enum(schema, build):
    cls, members = schema["cls"], schema["members"]
    strict = build.setting(schema, "strict", default=False)
    sub_type, missing = schema.get("sub_type"), schema.get("missing")
    convert = build.make({"type": sub_type}) if sub_type in ("int", "float") else None

    def validate(value, state):
        if isinstance(value, cls):
            return value
        if state.strictly(strict) and state.mode == "python":
            raise fail("is_instance_of", value, **{"class": cls.__name__})
        state.floor(LAX)
        found = _find(value, state.strictly(strict))
        if found is None and missing is not None:
            found = missing(value)
        if found is None:
            raise fail("enum", value, expected=listed([member.value for member in members]))
        return found

    def _find(value, strictly):
        if isinstance(value, enum.Enum):
            value = value.value
        for member in members:
            if type(member.value) is type(value) and member.value == value:
                return member
        if convert and not strictly:
            try:
                value = convert(value, State("python"))
            except Failure:
                return None
        return next((member for member in members if _equal(value, member.value)), None)

    return named(validate, "enum")


@kind("is-instance")
def _is_instance(schema, build):
    cls = schema["cls"]
    name = schema.get("cls_repr") or getattr(cls, "__name__", repr(cls))

    def validate(value, state):
        if state.mode != "python":
            raise fail("needs_python_object", value, method_name="isinstance")
        if not isinstance(value, cls):
            raise fail("is_instance_of", value, **{"class": name})
        if type(value) is not cls:
            state.floor(STRICT)
        return value

    return named(validate, f"is-instance[{name}]")


@kind("is-subclass")
def _is_subclass(schema, build):
    cls = schema["cls"]
    name = schema.get("cls_repr") or cls.__name__

    def validate(value, state):
        if state.mode != "python":
            raise fail("needs_python_object", value, method_name="issubclass")
        if not (isinstance(value, type) and issubclass(value, cls)):
            raise fail("is_subclass_of", value, **{"class": name})
        return value

    return named(validate, f"is-subclass[{name}]")


@kind("callable")
def _callable(schema, build):
    def validate(value, state):
        state.floor(LAX)
        if not callable(value):
            raise fail("callable_type", value)
        return value

    return named(validate, "callable")


@kind("uuid")
def _uuid(schema, build):
    strict = build.setting(schema, "strict", default=False)
    version = schema.get("version")

    def validate(value, state):
        if isinstance(value, uuid.UUID):
            result = value
        elif state.strictly(strict) and state.mode == "python":
            raise fail("is_instance_of", value, **{"class": "UUID"})
        elif isinstance(value, (str, bytes, bytearray)):
            state.floor(LAX)
            try:
                if isinstance(value, str):
                    result = uuid.UUID(value)
                else:
                    raw = bytes(value)
                    result = uuid.UUID(bytes=raw) if len(raw) == 16 else uuid.UUID(raw.decode())
            except ValueError as problem:
                raise fail("uuid_parsing", value, error=str(problem)) from None
        else:
            raise fail("uuid_type", value)
        if version is not None and result.version != version:
            raise fail("uuid_version", value, expected_version=version)
        return result

    return named(validate, "uuid")
