"""Keccak as it was before it became SHA-3: the hash of Ethereum."""

_MASK = (1 << 64) - 1


def _round_constants():
    state = 1
    for _ in range(24):
        constant = 0
        for power in range(7):
            if state & 1:
                constant |= 1 << ((1 << power) - 1)
            state = (state << 1) ^ (0x171 if state & 0x80 else 0)
        yield constant


def _lanes():
    """The walk of the ρ and π steps: which lane goes where, and how far it is turned."""
    x, y = 1, 0
    for step in range(24):
        source = x + 5 * y
        x, y = y, (2 * x + 3 * y) % 5
        yield source, x + 5 * y, (step + 1) * (step + 2) // 2 % 64


_ROUNDS = tuple(_round_constants())
_WALK = tuple(_lanes())


def _permute(a):
    b = [0] * 25
    for constant in _ROUNDS:
        c0, c1, c2, c3, c4 = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        d = (
            c4 ^ ((c1 << 1 | c1 >> 63) & _MASK),
            c0 ^ ((c2 << 1 | c2 >> 63) & _MASK),
            c1 ^ ((c3 << 1 | c3 >> 63) & _MASK),
            c2 ^ ((c4 << 1 | c4 >> 63) & _MASK),
            c3 ^ ((c0 << 1 | c0 >> 63) & _MASK),
        )
        b[0] = a[0] ^ d[0]
        for source, target, turn in _WALK:
            lane = a[source] ^ d[source % 5]
            b[target] = (lane << turn | lane >> (64 - turn)) & _MASK
        for y in (0, 5, 10, 15, 20):
            b0, b1, b2, b3, b4 = b[y : y + 5]
            a[y] = b0 ^ (~b1 & b2)
            a[y + 1] = b1 ^ (~b2 & b3)
            a[y + 2] = b2 ^ (~b3 & b4)
            a[y + 3] = b3 ^ (~b4 & b0)
            a[y + 4] = b4 ^ (~b0 & b1)
        a[0] ^= constant


class Keccak_Hash:
    """A running Keccak. Make it with `new`."""

    def __init__(self, data, digest_bytes, update_after_digest):
        self.digest_size = digest_bytes
        self._rate = 200 - 2 * digest_bytes
        self._lanes = [0] * 25
        self._rest = b""
        self._update_after_digest = update_after_digest
        self._done = False
        if data:
            self.update(data)

    def update(self, data):
        if self._done and not self._update_after_digest:
            raise TypeError("You can only call 'digest' or 'hexdigest' on this object")
        data = self._rest + bytes(data)
        end = len(data) - len(data) % self._rate
        for start in range(0, end, self._rate):
            _absorb(self._lanes, data[start : start + self._rate])
        self._rest = data[end:]
        return self

    def digest(self):
        self._done = True
        last = bytearray(self._rest.ljust(self._rate, b"\0"))
        last[len(self._rest)] ^= 0x01
        last[-1] ^= 0x80
        lanes = list(self._lanes)
        _absorb(lanes, last)
        return b"".join(lane.to_bytes(8, "little") for lane in lanes)[: self.digest_size]

    def hexdigest(self):
        return self.digest().hex()

    def new(self, **kwargs):
        if "digest_bytes" not in kwargs and "digest_bits" not in kwargs:
            kwargs["digest_bytes"] = self.digest_size
        return new(**kwargs)


def _absorb(lanes, block):
    for index in range(len(block) // 8):
        lanes[index] ^= int.from_bytes(block[8 * index : 8 * index + 8], "little")
    _permute(lanes)


def new(data=None, digest_bytes=None, digest_bits=None, update_after_digest=False):
    if (digest_bytes is None) == (digest_bits is None):
        raise TypeError("Digest size (bits, bytes) not provided" if digest_bytes is None else "Only one digest parameter must be provided")
    if digest_bytes is None:
        if digest_bits not in (224, 256, 384, 512):
            raise ValueError("'digest_bytes' must be: 224, 256, 384 or 512")
        digest_bytes = digest_bits // 8
    elif digest_bytes not in (28, 32, 48, 64):
        raise ValueError("'digest_bytes' must be: 28, 32, 48 or 64")
    return Keccak_Hash(data, digest_bytes, update_after_digest)
