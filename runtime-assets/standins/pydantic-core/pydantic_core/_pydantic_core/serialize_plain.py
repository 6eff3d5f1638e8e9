"""Serialization by what a value is, where no schema says."""

import base64
import collections
import collections.abc as abc
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import math
import pathlib
import re
import types
import uuid

from . import times
from .errors import PydanticSerializationError
from .urls import MultiHostUrl, Url

_ADDRESSES = (
    ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network,
    ipaddress.IPv4Interface, ipaddress.IPv6Interface,
)


def infer(value, session, include=None, exclude=None, own=True):
    """A value as the session's mode has it; without `own`, its class's serializer is not asked."""
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind in (int, str):
        return value
    if kind is float:
        return number(value, session)
    if own and hasattr(kind, "__pydantic_serializer__") and not isinstance(value, type):
        return kind.__pydantic_serializer__.run(value, session, include, exclude)
    with session.inside(value):
        if isinstance(value, dict):
            return mapping(value, session, include, exclude)
        if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
            return items(value, session, include, exclude)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            found = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return mapping(found, session, include, exclude)
        if isinstance(value, types.GeneratorType) and session.json:
            return [infer(item, session) for item in value]
    if not session.json:
        return str(value) if isinstance(value, fractions.Fraction) else value
    return _json(value, session)


def number(value, session):
    if session.text and not math.isfinite(value):
        how = session.config.get("ser_json_inf_nan", "null")
        if how == "null":
            return None
        if how == "strings":
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


def binary(value, session):
    how = session.config.get("ser_json_bytes", "utf8")
    if how == "base64":
        return base64.urlsafe_b64encode(value).decode()
    if how == "hex":
        return bytes(value).hex()
    try:
        return bytes(value).decode()
    except UnicodeDecodeError as problem:
        raise PydanticSerializationError(f"invalid utf-8 sequence of 1 bytes from index {problem.start}") from None


def temporal(value, session):
    how = session.config.get("ser_json_temporal", "iso8601")
    if isinstance(value, dt.timedelta):
        if how in ("seconds", "milliseconds"):
            return value.total_seconds() * (1000 if how == "milliseconds" else 1)
        return value.total_seconds() if session.config.get("ser_json_timedelta") == "float" else times.write_timedelta(value)
    if how == "iso8601":
        return times.write(value)
    if isinstance(value, dt.datetime):
        seconds = (value if value.tzinfo else value.replace(tzinfo=dt.timezone.utc)).timestamp()
    elif isinstance(value, dt.date):
        seconds = dt.datetime(value.year, value.month, value.day, tzinfo=dt.timezone.utc).timestamp()
    else:
        seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return seconds * (1000 if how == "milliseconds" else 1)


def _json(value, session):
    if isinstance(value, enum.Enum):
        return infer(value.value, session)
    if isinstance(value, (bytes, bytearray)):
        return binary(value, session)
    if isinstance(value, (dt.date, dt.time, dt.timedelta)):
        return temporal(value, session)
    if isinstance(value, (decimal.Decimal, uuid.UUID, fractions.Fraction, pathlib.PurePath, Url, MultiHostUrl, complex, *_ADDRESSES)):
        return str(value).strip("()") if isinstance(value, complex) else str(value)
    if isinstance(value, re.Pattern):
        return value.pattern
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return number(float(value), session)
    if isinstance(value, str):
        return str.__str__(value)
    if session.fallback is not None:
        return infer(session.fallback(value), session)
    if session.serialize_unknown:
        try:
            return str(value)
        except Exception:
            return f"<Unserializable {type(value).__name__} object>"
    raise PydanticSerializationError(f"Unable to serialize unknown type: {type(value)}")


def key_of(key, session):
    """A key of a dictionary as JSON has it: a text."""
    if not session.json or type(key) is str:
        return key
    if key is None:
        return "None"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, enum.Enum):
        return key_of(key.value, session)
    if isinstance(key, tuple):
        return ",".join(str(key_of(part, session)) for part in key)
    found = infer(key, session)
    return found if isinstance(found, str) else str(found)


def choose(key, include, exclude):
    """Whether this key is wanted, and what is wanted of it: (wanted, inner include, inner exclude)."""
    if include is None and exclude is None:
        return True, None, None
    within, without = _part(include, key), _part(exclude, key)
    if _is_whole(without) or include is not None and within is _ABSENT:
        return False, None, None
    return True, None if within is _ABSENT or _is_whole(within) else within, None if without is _ABSENT else without


_ABSENT = object()


def _is_whole(found):
    return found is ... or found is True


def _part(given, key):
    """What `include` or `exclude` says of a key, and of all of them, put together."""
    if given is None:
        return _ABSENT
    if not isinstance(given, abc.Mapping):
        return ... if key in _keys(given) or "__all__" in given else _ABSENT
    item, every = given.get(key, _ABSENT), given.get("__all__", _ABSENT)
    if item is _ABSENT or every is _ABSENT:
        return every if item is _ABSENT else item
    return item if _is_whole(item) or _is_whole(every) else _merged(item, every)


def _merged(item, every):
    result = dict(item) if isinstance(item, abc.Mapping) else dict.fromkeys(_keys(item), ...)
    if not isinstance(every, abc.Mapping):
        return {**dict.fromkeys(_keys(every), ...), **result}
    for key, found in every.items():
        if key not in result:
            result[key] = found
        elif not _is_whole(result[key]):
            result[key] = _merged(result[key], found)
    return result


def _keys(given):
    if not isinstance(given, abc.Set):
        raise TypeError("`include` and `exclude` must be of type `dict[str | int, <recursive>] | set[str | int | ...]`")
    return given


def mapping(value, session, include=None, exclude=None, key=None, item=None):
    result = {}
    for name, found in value.items():
        wanted, within, without = choose(name, include, exclude)
        if not wanted:
            continue
        shown = key(name, session) if key else key_of(name, session)
        result[shown] = item(found, session, within, without) if item else infer(found, session, within, without)
    return result


def items(value, session, include=None, exclude=None, item=None, make=None):
    result = []
    size = len(value) if hasattr(value, "__len__") else 0
    for index, found in enumerate(value):
        within = without = None
        if include is not None or exclude is not None:
            wanted, within, without = choose(index, _negative(include, size), _negative(exclude, size))
            if not wanted:
                continue
        result.append(item(found, session, within, without) if item else infer(found, session, within, without))
    if session.json:
        return result
    if make is None:
        kinds = (list, tuple, set, frozenset, collections.deque)
        make = next(kind for kind in kinds if isinstance(value, kind))
    return make(result)


def _negative(given, size):
    if given is None:
        return None
    fix = lambda key: key + size if isinstance(key, int) and key < 0 else key
    return {fix(key): found for key, found in given.items()} if hasattr(given, "items") else {fix(key) for key in _keys(given)}
