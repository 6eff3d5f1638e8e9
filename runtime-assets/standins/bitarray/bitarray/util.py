"""Conversions between bit arrays and numbers, hexadecimal and bytes."""

import os

from bitarray import bitarray, get_default_endian

__all__ = [
    "any_and", "ba2base", "ba2hex", "ba2int", "base2ba", "count_and", "count_or", "count_xor", "hex2ba", "int2ba",
    "ones", "parity", "strip", "subset", "urandom", "zeros",
]


def zeros(length, /, endian=None):
    return bitarray(length, endian)


def ones(length, /, endian=None):
    made = bitarray(length, endian)
    made.setall(1)
    return made


def urandom(length, /, endian=None):
    made = bitarray(0, endian)
    made.frombytes(os.urandom((length + 7) // 8))
    return made[:length]


def strip(a, /, mode="right"):
    if mode not in ("left", "right", "both"):
        raise ValueError("mode must be 'left', 'right' or 'both'")
    text = a.to01()
    if mode in ("right", "both"):
        text = text.rstrip("0")
    if mode in ("left", "both"):
        text = text.lstrip("0")
    return type(a)(text, a.endian)


def parity(a, /):
    return a.count() & 1


def count_and(a, b, /):
    return (a & b).count()


def count_or(a, b, /):
    return (a | b).count()


def count_xor(a, b, /):
    return (a ^ b).count()


def any_and(a, b, /):
    return (a & b).any()


def subset(a, b, /):
    return (a & b) == a


def ba2int(a, /, signed=False):
    if not isinstance(a, bitarray):
        raise TypeError(f"bitarray expected, got '{type(a).__name__}'")
    if not len(a):
        raise ValueError("non-empty bitarray expected")
    text = a.to01() if a.endian == "big" else a.to01()[::-1]
    number = int(text, 2)
    return number - (1 << len(a)) if signed and text[0] == "1" else number


def int2ba(i, /, length=None, endian=None, signed=False):
    if not isinstance(i, int):
        raise TypeError(f"int expected, got '{type(i).__name__}'")
    if length is not None and length <= 0:
        raise ValueError("length must be > 0")
    if signed and length is None:
        raise TypeError("signed requires argument 'length'")
    if not signed and i < 0:
        raise OverflowError(f"unsigned integer not positive, got {i}")
    if length is not None:
        low, high = (-(1 << length - 1), 1 << length - 1) if signed else (0, 1 << length)
        if not low <= i < high:
            raise OverflowError(f"{'signed' if signed else 'unsigned'} integer not in range({low}, {high}), got {i}")
    text = format(i & ((1 << length) - 1) if length else i, f"0{length or 1}b")
    endian = endian or get_default_endian()
    return bitarray(text if endian == "big" else text[::-1], endian)


_ALPHABETS = {
    2: "01", 4: "0123", 8: "01234567", 16: "0123456789abcdef", 32: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
}


def _width(n):
    if n not in _ALPHABETS:
        raise ValueError("base must be 2, 4, 8, 16, 32 or 64")
    return n.bit_length() - 1


def ba2base(n, a, /, group=0, sep=" "):
    width = _width(n)
    if len(a) % width:
        raise ValueError(f"bitarray length {len(a)} not multiple of {width}")
    parts = (a.to01()[i : i + width] for i in range(0, len(a), width))
    text = "".join(_ALPHABETS[n][int(part if a.endian == "big" else part[::-1], 2)] for part in parts)
    return sep.join(text[i : i + group] for i in range(0, len(text), group)) if group else text


def base2ba(n, asciistr, /, endian=None):
    width, endian = _width(n), endian or get_default_endian()
    text = asciistr.lower() if n == 16 else asciistr
    made = bitarray(0, endian)
    for character in "".join(text.split()):
        if character not in _ALPHABETS[n]:
            raise ValueError(f"invalid digit found for base{n}, got {character!r}")
        part = format(_ALPHABETS[n].index(character), f"0{width}b")
        made.extend(part if endian == "big" else part[::-1])
    return made


def ba2hex(a, /, group=0, sep=" "):
    return ba2base(16, a, group, sep)


def hex2ba(s, /, endian=None):
    return base2ba(16, s, endian)
