"""Digests around the borders of blocks, in pieces, copied and keyed. The same everywhere: by itself this prints them as JSON."""

import hashlib
import hmac
import json

NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b", "blake2s"]
KEYS = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
DATA = bytes((at * 7 + at // 251) % 256 for at in range(20_000))


def of_all(name, digests):
    """One digest of many, so that one that is wrong changes it."""
    return hashlib.new(name, b"".join(digests)).hexdigest()


def lengths(name):
    most = 4 * hashlib.new(name).block_size + 3
    # Also of what does not begin at a word.
    return [hashlib.new(name, memoryview(DATA)[at % 9 : at % 9 + at]).digest() for at in range(most)]


def pieces(name):
    hashed, at, digests = hashlib.new(name), 0, []
    for size in [1, 3, 7, 61, 0, 63, 64, 65, 127, 128, 129, 200, 1_000, 4_096, 4_097]:
        hashed.update(DATA[at : at + size])
        at += size
        digests.append(hashed.digest())
    return digests


def copies(name):
    first, digests = hashlib.new(name, DATA[:100]), []
    for at in range(100, 400, 13):
        second = first.copy()
        first.update(DATA[at : at + 13])
        second.update(b"another way")
        digests += [first.digest(), second.digest()]
    return digests


def keyed(name):
    block = hashlib.new(name).block_size
    keys = [DATA[:size] for size in (0, 1, block - 1, block, block + 1, 3 * block)]
    together = hmac.new(b"key", DATA[:50], name)
    together.update(DATA[50:500])
    at_once = [hmac.digest(key, DATA[:size], name) for key in keys for size in (0, 55, 56, 64, 200)]
    return [together.digest(), together.copy().digest(), *at_once]


def keys(name):
    size = hashlib.new(name).digest_size
    derived = [(rounds, size) for rounds in (1, 2, 3, 2_047, 2_048, 2_049, 2_050, 4_098)]
    derived += [(5, length) for length in (1, size - 1, size + 1, 3 * size + 2)]
    return [hashlib.pbkdf2_hmac(name, DATA[:length], DATA[:9], rounds, length) for rounds, length in derived]


def large(name):
    return [hashlib.new(name, DATA * 100).digest()]


def digests():
    parts = {"lengths": lengths, "pieces": pieces, "copies": copies, "large": large}
    found = {f"{name}, {part}": of_all(name, make(name)) for name in NAMES for part, make in parts.items()}
    found |= {f"{name}, {make.__name__}": of_all(name, make(name)) for name in KEYS for make in (keyed, keys)}
    return found


if __name__ == "__main__":
    print(json.dumps(digests()))
