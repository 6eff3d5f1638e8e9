"""Keys from passwords: PBKDF2 and scrypt."""

import struct

from Crypto.Hash import HMAC, SHA1, SHA256

_SCRYPT_LIMIT = 65536


def _bytes(text):
    return text.encode("latin-1") if isinstance(text, str) else bytes(text)


def PBKDF2(password, salt, dkLen=16, count=1000, prf=None, hmac_hash_module=None):
    if prf is not None and hmac_hash_module is not None:
        raise ValueError("'prf' and 'hmac_hash_module' are mutually exlusive")
    password, salt = _bytes(password), _bytes(salt)
    if prf is None:
        prf = lambda p, s: HMAC.new(p, s, hmac_hash_module or SHA1).digest()
    key, index = b"", 1
    while len(key) < dkLen:
        value = prf(password, salt + struct.pack(">I", index))
        total = int.from_bytes(value, "big")
        for _ in range(count - 1):
            value = prf(password, value)
            total ^= int.from_bytes(value, "big")
        key += total.to_bytes(len(value), "big")
        index += 1
    return key[:dkLen]


def _salsa(block):
    x = list(block)
    for _ in range(4):
        for a, b, c, d in (
            (0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11),
            (0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14),
        ):
            for target, left, right, turn in ((b, a, d, 7), (c, b, a, 9), (d, c, b, 13), (a, d, c, 18)):
                total = (x[left] + x[right]) & 0xFFFFFFFF
                x[target] ^= (total << turn | total >> (32 - turn)) & 0xFFFFFFFF
    return [(a + b) & 0xFFFFFFFF for a, b in zip(x, block)]


def _mix(blocks, r):
    x = blocks[-16:]
    even, odd = [], []
    for i in range(2 * r):
        x = _salsa([a ^ b for a, b in zip(x, blocks[16 * i : 16 * i + 16])])
        (odd if i % 2 else even).extend(x)
    return even + odd


def scrypt(password, salt, key_len, N, r, p, num_keys=1):
    if N < 2 or N & (N - 1):
        raise ValueError("N must be a power of 2")
    if N * r > _SCRYPT_LIMIT:
        raise NotImplementedError(
            "not available in a skillcell cell: scrypt with N * r above %d is too slow without native code "
            "(this one has N=%d, r=%d); use a key that is derived by PBKDF2, or another tier" % (_SCRYPT_LIMIT, N, r)
        )
    password, salt = _bytes(password), _bytes(salt)
    one = lambda s, size: PBKDF2(password, s, size, 1, hmac_hash_module=SHA256)
    data = one(salt, p * 128 * r)
    parts = []
    for i in range(p):
        x = list(struct.unpack("<%dI" % (32 * r), data[i * 128 * r : (i + 1) * 128 * r]))
        table = []
        for _ in range(N):
            table.append(x)
            x = _mix(x, r)
        for _ in range(N):
            x = _mix([a ^ b for a, b in zip(x, table[x[-16] & (N - 1)])], r)
        parts.append(struct.pack("<%dI" % (32 * r), *x))
    key = one(b"".join(parts), key_len * num_keys)
    return key if num_keys == 1 else [key[i : i + key_len] for i in range(0, len(key), key_len)]
