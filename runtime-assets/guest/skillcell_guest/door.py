"""Frames to the host: one byte that says what is wanted, then the payload. docs/reference/door.md describes them."""

import _host

TAKE = b"T"  # asks for the call; the answer is what `call.unpack` reads
GIVE = b"G"  # hands the result over, as JSON
TELL = b"N"  # names modules that the call has loaded and the host says something about, as JSON
FAIL = b"F"  # hands an exception over, as JSON
BAKE = b"B"  # hands over what a bake learned, as JSON
TEST = b"R"  # tells of a test, as JSON
KEYS = b"K"  # has rounds of PBKDF2 computed
PINS = b"P"  # hands over addresses of objects that may become immortal, as packed little-endian u32


def send(kind, payload=b""):
    return _host.call(kind + payload)
