"""A stand-in for jiter: JSON to Python, also of a text that is not complete yet. The SDKs of language models need it."""

import decimal
import json

from jiter._partial import Partial

__version__ = "0.19.0"
__all__ = ["from_json", "cache_clear", "cache_usage", "__version__", "LosslessFloat"]


class LosslessFloat:
    """A number as it was written."""

    def __init__(self, json_float):
        float(json_float)
        self._text = bytes(json_float).decode()

    def as_decimal(self):
        return decimal.Decimal(self._text)

    def __float__(self):
        return float(self._text)

    def __bytes__(self):
        return self._text.encode()

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"LosslessFloat({self._text})"


_NUMBERS = {
    "float": float,
    "decimal": decimal.Decimal,
    "lossless-float": lambda text: LosslessFloat(text.encode()),
}


def from_json(
    json_data, /, *, allow_inf_nan=True, cache_mode="all", partial_mode=False, catch_duplicate_keys=False, float_mode="float"
):
    """JSON as Python values. With `partial_mode` what is complete of it; with `"trailing-strings"` also a text's start."""
    if not isinstance(json_data, (bytes, bytearray)):
        raise TypeError(f"'{type(json_data).__name__}' object is not an instance of 'bytes'")
    if float_mode not in _NUMBERS:
        raise ValueError("Invalid float mode, should be `'float'`, `'decimal'` or `'lossless-float'`")
    if partial_mode not in (False, True, "off", "on", "trailing-strings"):
        raise ValueError("Invalid partial mode, should be `'off'`, `'on'`, `'trailing-strings'` or a `bool`")

    def constant(name):
        if not allow_inf_nan:
            raise ValueError(f"expected value: {name} is not allowed")
        return float(name)

    def pairs(found):
        if catch_duplicate_keys and len(dict(found)) < len(found):
            seen = set()
            twice = next(key for key, _ in found if key in seen or seen.add(key))
            raise ValueError(f'Detected duplicate key "{twice}"')
        return dict(found)

    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_float=_NUMBERS[float_mode], parse_constant=constant)
    text = bytes(json_data).decode()
    if partial_mode in (True, "on", "trailing-strings"):
        return Partial(text, decoder, pairs, partial_mode == "trailing-strings").read()
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as problem:
        raise ValueError(_told(problem)) from None


def _told(problem):
    text = problem.doc
    if problem.pos >= len(text.rstrip()) or problem.msg.startswith("Unterminated"):
        what = "string" if problem.msg.startswith("Unterminated") else "value"
        return f"EOF while parsing a {what} at line {text.count(chr(10)) + 1} column {len(text) - text.rfind(chr(10)) - 1}"
    return f"{problem.msg} at line {problem.lineno} column {problem.colno}"


def cache_clear():
    """There is no cache."""


def cache_usage():
    return 0
