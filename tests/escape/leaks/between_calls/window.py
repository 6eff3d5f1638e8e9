"""Raw memory without native code: a bytearray that nobody made, over any address. Where numpy is, its strides do the same.

Bytecode that no compiler would make loads it from far beyond a function's constants.
"""

import dis
import struct
import types
from opcode import _inline_cache_entries

#: What lies before the bytes of a `bytes`; a count of references that never reaches 0; where a bytearray has its address.
HEADER, IMMORTAL, START = 16, 5 << 28, 20
KEPT = []


def window(start, length):
    forged = struct.pack("<IIiiIIi", IMMORTAL, id(bytearray), length, length + 1, start, start, 0)
    place = struct.pack("<I", id(forged) + HEADER)
    KEPT.append((forged, place))
    return _load(id(place) + HEADER)


def address_of(block):
    return int.from_bytes(window(id(block) + START, 4), "little")


def _load(address):
    """The object whose address lies there."""
    constants = (None,)
    index = (address - id(constants) - tuple.__basicsize__) // 4 % (1 << 30)
    names = [*["EXTENDED_ARG"] * 3, "LOAD_CONST", "RETURN_VALUE"]
    code = bytes([dis.opmap["RESUME"], 0, *[0, 0] * _inline_cache_entries.get("RESUME", 0)])
    code += bytes(part for pair in zip(map(dis.opmap.get, names), [*index.to_bytes(4, "big"), 0]) for part in pair)
    made = (lambda: None).__code__.replace(co_code=code, co_consts=constants, co_stacksize=4)
    return types.FunctionType(made, {})()
