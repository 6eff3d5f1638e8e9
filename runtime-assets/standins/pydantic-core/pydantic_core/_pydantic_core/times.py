"""Dates, times and durations: reading and writing."""

import datetime as dt
import re

_DATE = r"(\d{4})-(\d{2})-(\d{2})"
_TIME = r"(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
_ZONE = r"(Z|z|[+-]\d{2}:?\d{2}|[+-]\d{2})?"
_DATETIME = re.compile(_DATE + r"[Tt _]" + _TIME + _ZONE)
_ONLY_DATE = re.compile(_DATE)
_ONLY_TIME = re.compile(_TIME + _ZONE)
_ISO = re.compile(
    r"([+-])?P(?:(\d+(?:\.\d+)?)Y)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?"
    r"(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_CLOCK = re.compile(r"([+-])?(?:(\d+) ?d(?:ays?)?,? ?)?(?:(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?")
_EPOCH = dt.datetime(1970, 1, 1)
# Numbers beyond this are milliseconds.
_WATERSHED = 2e10


class TzInfo(dt.tzinfo):
    """A fixed offset from UTC."""

    def __init__(self, seconds=0.0):
        if abs(seconds) >= 86400:
            raise ValueError(f"TzInfo offset must be strictly between -86400 and 86400 (24 hours) seconds, got {seconds}")
        self._seconds = int(seconds)

    def utcoffset(self, when):
        return dt.timedelta(seconds=self._seconds)

    def dst(self, when):
        return None

    def tzname(self, when):
        return str(self)

    def fromutc(self, when):
        return when + self.utcoffset(when)

    def __str__(self):
        if not self._seconds:
            return "UTC"
        minutes = abs(self._seconds) // 60
        return f"{'-' if self._seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"

    def __repr__(self):
        return f"TzInfo({self._seconds})"

    def __eq__(self, other):
        if not isinstance(other, dt.tzinfo):
            return NotImplemented
        return self.utcoffset(None) == other.utcoffset(None)

    def __hash__(self):
        return hash(self._seconds)

    def __reduce__(self):
        return TzInfo, (self._seconds,)

    def __deepcopy__(self, memo):
        return self


def _zone(text):
    if not text:
        return None
    if text in "Zz":
        return TzInfo(0)
    digits = text[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return TzInfo(-seconds if text[0] == "-" else seconds)


def _micro(text):
    return int((text or "0")[:6].ljust(6, "0"))


def parse_datetime(text, only_date=True, unit="infer"):
    found = _DATETIME.fullmatch(text)
    if not found:
        number = _number(text)
        if number is not None:
            return from_number(number, unit)
        only = _ONLY_DATE.fullmatch(text)
        if only and only_date:
            return dt.datetime(*map(int, only.groups()))
        raise ValueError(_why(text, "datetime"))
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        return dt.datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), _micro(fraction), _zone(zone))
    except ValueError as problem:
        raise ValueError(_range(problem)) from None


def parse_date(text):
    found = _ONLY_DATE.fullmatch(text.strip())
    if not found:
        raise ValueError(_why(text.strip(), "date"))
    try:
        return dt.date(*map(int, found.groups()))
    except ValueError as problem:
        raise ValueError(_range(problem)) from None


def parse_time(text):
    found = _ONLY_TIME.fullmatch(text.strip())
    if not found:
        raise ValueError(_why(text.strip(), "time"))
    hour, minute, second, fraction, zone = found.groups()
    try:
        return dt.time(int(hour), int(minute), int(second or 0), _micro(fraction), _zone(zone))
    except ValueError as problem:
        raise ValueError(_range(problem)) from None


def parse_timedelta(text):
    text = text.strip()
    found = _ISO.fullmatch(text)
    if found and any(found.groups()[1:]):
        sign, years, months, weeks, days, hours, minutes, seconds = found.groups()
        days = 365 * float(years or 0) + 30 * float(months or 0) + 7 * float(weeks or 0) + float(days or 0)
        value = dt.timedelta(days=days, hours=float(hours or 0), minutes=float(minutes or 0), seconds=float(seconds or 0))
        return -value if sign == "-" else value
    found = _CLOCK.fullmatch(text)
    if found and any(found.groups()[1:]):
        sign, days, hours, minutes, seconds, fraction = found.groups()
        value = dt.timedelta(int(days or 0), int(seconds or 0), _micro(fraction), 0, int(minutes or 0), int(hours or 0))
        return -value if sign == "-" else value
    raise ValueError("input is too short" if len(text) < 4 else "invalid digit in duration")


def _number(text):
    try:
        return float(text) if re.fullmatch(r"[+-]?\d+(\.\d+)?", text, re.ASCII) else None
    except ValueError:
        return None


def from_number(number, unit="infer"):
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError("NaN values not permitted" if number != number else "Infinity values not permitted")
    is_millis = unit == "milliseconds" or unit == "infer" and abs(number) > _WATERSHED
    seconds = number / 1000 if is_millis else number
    try:
        return (_EPOCH + dt.timedelta(microseconds=round(seconds * 1_000_000))).replace(tzinfo=TzInfo(0))
    except OverflowError:
        raise ValueError("dates after 9999 are not supported as unix timestamps") from None


def _why(text, what):
    if len(text) < {"datetime": 10, "date": 10, "time": 5}[what]:
        return "input is too short"
    return "unexpected extra characters at the end of the input" if what == "date" and _ONLY_DATE.match(text) else "invalid character in year" if what != "time" and not text[:4].isdigit() else "invalid datetime separator, expected `T`, `t`, `_` or space" if what == "datetime" else f"invalid {what}"


def _range(problem):
    text = str(problem)
    for part in ("month", "hour", "minute", "second"):
        if text.startswith(part):
            return f"{part} value is outside expected range of {'1-12' if part == 'month' else '0-23' if part == 'hour' else '0-59'}"
    return "day value is outside expected range"


def write(value):
    """Dates and times as JSON has them."""
    text = value.isoformat()
    return text[:-6] + "Z" if text.endswith("+00:00") else text


def write_timedelta(value):
    sign = "-" if value < dt.timedelta(0) else ""
    value = abs(value)
    years, days = divmod(value.days, 365)
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    text = f"{sign}P" + (f"{years}Y" if years else "") + (f"{days}D" if days else "")
    clock = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    if seconds or value.microseconds:
        clock += f"{seconds}" + (f".{value.microseconds:06d}".rstrip("0") if value.microseconds else "") + "S"
    return text + ("T" + clock if clock else "") if clock or years or days else f"{sign}PT0S"
