"""Stands for what `hashlib` takes from OpenSSL: `pbkdf2_hmac`, and the module `_hashlib` for code that names its types.

The hashes themselves are CPython's own, in C. The rounds of `pbkdf2_hmac` are the host's where it has the hash function. `scrypt` is
not here: without C it would take minutes and say nothing.
"""

import hashlib
import hmac
import operator
import struct
import sys
import types

from skillcell_guest import door

# What the host calls the functions that it has, and the most rounds that it makes at once: crates/door/src/digests.rs.
BY_HOST = {"sha1": 1, "sha224": 2, "sha256": 3, "sha384": 4, "sha512": 5}
MAX_ROUNDS = 2048


def install():
    hashlib.pbkdf2_hmac = pbkdf2_hmac
    # `hashlib` and `hmac` are imported by now, and keep to their own C; only others find this module.
    module = types.ModuleType("_hashlib", __doc__)
    module.HASH = type(hashlib.sha256())
    module.HMAC = hmac.HMAC
    module.compare_digest = hmac.compare_digest
    module.get_fips_mode = lambda: 0
    module.pbkdf2_hmac = pbkdf2_hmac
    sys.modules["_hashlib"] = module


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """A key from a password (RFC 8018)."""
    iterations = operator.index(iterations)
    inner, outer = hashlib.new(hash_name), hashlib.new(hash_name)
    length = inner.digest_size if dklen is None else operator.index(dklen)
    if length < 1:
        raise ValueError("key length must be greater than 0.")
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    password, salt = bytes(memoryview(password)), bytes(memoryview(salt))
    if len(password) > inner.block_size:
        password = hashlib.new(hash_name, password).digest()
    password = password.ljust(inner.block_size, b"\0")
    inner.update(bytes(byte ^ 0x36 for byte in password))
    outer.update(bytes(byte ^ 0x5C for byte in password))

    def keyed(message):
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    def by_host(last, rounds):
        head = struct.pack("<BI", BY_HOST[inner.name], rounds)
        answer = door.send(door.KEYS, head + password + last)
        return answer[: len(last)], answer[len(last) :]

    def here(last, _one):
        last = keyed(last)
        return last, last

    turn, most = (by_host, MAX_ROUNDS) if inner.name in BY_HOST else (here, 1)
    key, block = b"", 1
    while len(key) < length:
        last = keyed(salt + block.to_bytes(4, "big"))
        total = int.from_bytes(last, "big")
        left = iterations - 1
        while left:
            rounds = min(left, most)
            last, all_of_them = turn(last, rounds)
            total ^= int.from_bytes(all_of_them, "big")
            left -= rounds
        key += total.to_bytes(inner.digest_size, "big")
        block += 1
    return key[:length]
