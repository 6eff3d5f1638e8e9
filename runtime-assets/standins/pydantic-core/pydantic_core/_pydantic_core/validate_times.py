"""Dates, times and durations."""

import datetime as dt
import decimal
import fractions
import re

from . import times
from .errors import fail
from .state import LAX, kind, named
from .validate_scalars import bounds

_NUMBERS = (int, float, decimal.Decimal, fractions.Fraction)


def _past_or_future(schema, what):
    wanted, offset = schema.get("now_op"), schema.get("now_utc_offset")

    def check(value, original):
        if wanted is None:
            return
        if isinstance(value, dt.datetime):
            now = dt.datetime.now(value.tzinfo) if value.tzinfo else dt.datetime.now()
        else:
            now = dt.date.today()
        if wanted == "past" and not value < now:
            raise fail(f"{what}_past", original)
        if wanted == "future" and not value > now:
            raise fail(f"{what}_future", original)

    assert offset is None or isinstance(offset, int)
    return check


def _zone(schema):
    wanted = schema.get("tz_constraint")

    def check(value, original):
        if wanted is None:
            return
        if wanted == "naive" and value.tzinfo is not None:
            raise fail("timezone_naive", original)
        if wanted != "naive" and value.tzinfo is None:
            raise fail("timezone_aware", original)
        if isinstance(wanted, int):
            actual = int(value.utcoffset().total_seconds())
            if actual != wanted:
                raise fail("timezone_offset", original, tz_expected=wanted, tz_actual=actual)

    return check


def _text(value, state):
    if isinstance(value, (bytes, bytearray)) and state.mode == "python":
        return bytes(value).decode("utf-8", "replace")
    return value if isinstance(value, str) else None


def _reading(schema, build):
    """How numbers and fractions are read: the unit of numbers, and what becomes of digits beyond microseconds."""
    unit = build.config.get("val_temporal_unit") or "infer"
    exact = schema.get("microseconds_precision") == "error"

    def check(text):
        if exact and re.search(r"[.,]\d{7}", text):
            raise ValueError("second fraction value is more than 6 digits long")
        return text

    return unit, check


@kind("datetime")
def _datetime(schema, build):
    strict = build.setting(schema, "strict", default=False)
    check, zone, now = bounds(schema), _zone(schema), _past_or_future(schema, "datetime")
    unit, exact = _reading(schema, build)

    def validate(value, state):
        result = convert(value, state)
        zone(result, value)
        now(result, value)
        try:
            return check(result, value) if check else result
        except TypeError:
            raise fail("timezone_aware", value) from None

    def convert(value, state):
        if isinstance(value, dt.datetime):
            return value
        if state.strictly(strict) and state.mode == "python":
            raise fail("datetime_type", value)
        state.floor(LAX)
        try:
            text = _text(value, state)
            if text is not None:
                return times.parse_datetime(exact(text), only_date=not state.strictly(strict), unit=unit)
            if isinstance(value, dt.date):
                return dt.datetime(value.year, value.month, value.day)
            if isinstance(value, _NUMBERS) and not isinstance(value, bool) and not state.strictly(strict):
                return times.from_number(float(value), unit)
        except ValueError as problem:
            from_date = isinstance(value, (str, bytes, bytearray)) and not state.strictly(strict)
            raise fail("datetime_from_date_parsing" if from_date else "datetime_parsing", value, error=str(problem)) from None
        raise fail("datetime_type", value)

    return named(validate, "datetime")


@kind("date")
def _date(schema, build):
    strict = build.setting(schema, "strict", default=False)
    check, now = bounds(schema), _past_or_future(schema, "date")
    unit, _ = _reading(schema, build)

    def validate(value, state):
        result = convert(value, state)
        now(result, value)
        return check(result, value) if check else result

    def convert(value, state):
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            return value
        if state.strictly(strict) and state.mode == "python":
            raise fail("date_type", value)
        state.floor(LAX)
        text = _text(value, state)
        if text is not None:
            try:
                return times.parse_date(text)
            except ValueError:
                if state.strictly(strict):
                    raise fail("date_parsing", value, error="invalid date") from None
        try:
            if text is not None:
                whole = times.parse_datetime(text, unit=unit)
            elif isinstance(value, dt.datetime):
                whole = value
            elif isinstance(value, _NUMBERS) and not isinstance(value, bool) and not state.strictly(strict):
                whole = times.from_number(float(value), unit)
            else:
                raise fail("date_type", value)
        except ValueError as problem:
            raise fail("date_from_datetime_parsing", value, error=str(problem)) from None
        if whole.time() != dt.time():
            raise fail("date_from_datetime_inexact", value)
        return whole.date()

    return named(validate, "date")


@kind("time")
def _time(schema, build):
    strict = build.setting(schema, "strict", default=False)
    check, zone = bounds(schema), _zone(schema)
    _, exact = _reading(schema, build)

    def validate(value, state):
        result = convert(value, state)
        zone(result, value)
        return check(result, value) if check else result

    def convert(value, state):
        if isinstance(value, dt.time):
            return value
        if state.strictly(strict) and state.mode == "python":
            raise fail("time_type", value)
        state.floor(LAX)
        try:
            text = _text(value, state)
            if text is not None:
                return times.parse_time(exact(text))
            if isinstance(value, _NUMBERS) and not isinstance(value, bool) and not state.strictly(strict):
                value = float(value)
                if not 0 <= value < 86400:
                    raise ValueError("numeric times may not exceed 86,399 seconds")
                return (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=value)).time().replace(tzinfo=times.TzInfo(0))
        except ValueError as problem:
            raise fail("time_parsing", value, error=str(problem)) from None
        raise fail("time_type", value)

    return named(validate, "time")


@kind("timedelta")
def _timedelta(schema, build):
    strict = build.setting(schema, "strict", default=False)
    check = bounds(schema)
    _, exact = _reading(schema, build)

    def validate(value, state):
        result = convert(value, state)
        return check(result, value) if check else result

    def convert(value, state):
        if isinstance(value, dt.timedelta):
            return value
        if state.strictly(strict) and state.mode == "python":
            raise fail("time_delta_type", value)
        state.floor(LAX)
        try:
            text = _text(value, state)
            if text is not None:
                return times.parse_timedelta(text if "P" in text else exact(text))
            if isinstance(value, _NUMBERS) and not isinstance(value, bool) and not state.strictly(strict):
                return dt.timedelta(seconds=float(value))
        except (ValueError, OverflowError) as problem:
            raise fail("time_delta_parsing", value, error=str(problem)) from None
        raise fail("time_delta_type", value)

    return named(validate, "timedelta")
