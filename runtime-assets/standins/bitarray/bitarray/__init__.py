"""A stand-in for bitarray: an array of bits, kept as bytes that are 0 or 1."""

__version__ = "3.12.3"
__all__ = ["bitarray", "frozenbitarray", "bits2bytes", "get_default_endian"]


def get_default_endian():
    return "big"


def bits2bytes(n, /):
    if n < 0:
        raise ValueError("non-negative int expected")
    return (n + 7) // 8


def _bit(value):
    if not isinstance(value, int):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    if value not in (0, 1):
        raise ValueError(f"bit must be 0 or 1, got {value}")
    return int(value)


class bitarray:
    """An array of bits."""

    def __init__(self, initializer=0, /, endian=None, buffer=None):
        if buffer is not None:
            raise NotImplementedError("not available in a skillcell cell: a bitarray over a buffer")
        if endian not in (None, "big", "little"):
            raise ValueError(f"bit-endianness must be either 'little' or 'big', not '{endian}'")
        inherited = initializer.endian if isinstance(initializer, bitarray) else "big"
        self._endian = endian or inherited
        self._bits = bytearray()
        if isinstance(initializer, (bytes, bytearray)):
            self.frombytes(initializer)
        elif isinstance(initializer, int) and not isinstance(initializer, bool):
            if initializer < 0:
                raise ValueError("bitarray length must be >= 0")
            self._bits = bytearray(initializer)
        elif isinstance(initializer, bool):
            raise TypeError("cannot create bitarray from 'bool' object")
        elif initializer is not None:
            self.extend(initializer)

    def _new(self, bits):
        made = bitarray.__new__(type(self))
        made._endian, made._bits = self._endian, bytearray(bits)
        return made

    @property
    def endian(self):
        return self._endian

    @property
    def nbytes(self):
        return bits2bytes(len(self))

    @property
    def padbits(self):
        return -len(self) % 8

    @property
    def readonly(self):
        return isinstance(self, frozenbitarray)

    def _read(self, other):
        if isinstance(other, bitarray):
            return bytes(other._bits)
        if isinstance(other, str):
            text = "".join(c for c in other if c not in "_ \t\n\r\v")
            for character in text.strip("01")[:1]:
                raise ValueError(
                    f"expected '0' or '1' (or whitespace, or underscore), got {character!r} (0x{ord(character):02x})"
                )
            other = map(int, text)
        return bytes(_bit(value) for value in other)

    def append(self, value, /):
        self._bits.append(_bit(value))

    def extend(self, iterable, /):
        if isinstance(iterable, int):
            raise TypeError(f"'{type(iterable).__name__}' object is not iterable")
        self._bits += self._read(iterable)

    def insert(self, index, value, /):
        self._bits.insert(index, _bit(value))

    def pop(self, index=-1, /):
        if not self._bits:
            raise IndexError("pop from empty bitarray")
        return self._bits.pop(index)

    def remove(self, value, /):
        del self[self.index(value)]

    def clear(self):
        self._bits.clear()

    def reverse(self):
        self._bits.reverse()

    def setall(self, value, /):
        self._bits[:] = bytes([_bit(value)]) * len(self)

    def invert(self, index=None, /):
        for i in range(len(self)) if index is None else [index]:
            self._bits[i] ^= 1

    def fill(self):
        added = self.padbits
        self._bits += bytes(added)
        return added

    def sort(self, reverse=False):
        self._bits[:] = bytes(sorted(self._bits, reverse=reverse))

    def frombytes(self, data, /):
        for byte in bytes(data):
            bits = bytes((byte >> (7 - i)) & 1 for i in range(8))
            self._bits += bits if self._endian == "big" else bits[::-1]

    def tobytes(self):
        bits = bytes(self._bits) + bytes(self.padbits)
        groups = (bits[i : i + 8] for i in range(0, len(bits), 8))
        return bytes(int("".join(map(str, g if self._endian == "big" else g[::-1])), 2) for g in groups)

    __bytes__ = tobytes

    def to01(self, group=0, sep=" "):
        text = "".join(map(str, self._bits))
        return sep.join(text[i : i + group] for i in range(0, len(text), group)) if group else text

    def tolist(self):
        return list(self._bits)

    def unpack(self, zero=b"\x00", one=b"\x01"):
        return b"".join(one if bit else zero for bit in self._bits)

    def pack(self, data, /):
        self._bits += bytes(1 if byte else 0 for byte in bytes(data))

    def copy(self):
        return self._new(self._bits)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return _rebuild, (type(self), self.to01(), self._endian)

    def count(self, sub_bitarray=1, start=0, stop=None, step=1, /):
        if isinstance(sub_bitarray, bitarray):
            return bytes(self._bits[start:stop]).count(bytes(sub_bitarray._bits))
        return self._bits[start:stop:step].count(_bit(sub_bitarray))

    def find(self, sub_bitarray, start=0, stop=None, /, right=False):
        wanted = bytes(sub_bitarray._bits) if isinstance(sub_bitarray, bitarray) else bytes([_bit(sub_bitarray)])
        look = self._bits.rfind if right else self._bits.find
        return look(wanted, start, len(self) if stop is None else stop)

    def index(self, sub_bitarray, start=0, stop=None, /, right=False):
        found = self.find(sub_bitarray, start, stop, right=right)
        if found < 0:
            raise ValueError(f"{sub_bitarray!r} not in bitarray")
        return found

    def search(self, sub_bitarray, start=0, stop=None, /, right=False):
        wanted = len(sub_bitarray) if isinstance(sub_bitarray, bitarray) else 1
        stop = len(self) if stop is None else stop
        places = (i for i in range(start, stop - wanted + 1) if self.find(sub_bitarray, i, i + wanted) == i)
        return iter(list(places)[::-1]) if right else places

    def all(self):
        return 0 not in self._bits

    def any(self):
        return 1 in self._bits

    def __len__(self):
        return len(self._bits)

    def __iter__(self):
        return iter(self._bits)

    def __contains__(self, value):
        return self.find(value) >= 0

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._new(self._bits[index])
        if isinstance(index, bitarray):
            return self._new(bit for bit, taken in zip(self._bits, index._bits) if taken)
        if not hasattr(index, "__index__"):
            return self._new(self._bits[i] for i in index)
        try:
            return self._bits[index]
        except IndexError:
            raise IndexError("bitarray index out of range") from None

    def __setitem__(self, index, value):
        if not isinstance(index, slice):
            self._bits[index] = _bit(value)
        elif isinstance(value, int):
            self._bits[index] = bytes([_bit(value)]) * len(self._bits[index])
        else:
            self._bits[index] = self._read(value)

    def __delitem__(self, index):
        del self._bits[index]

    def __add__(self, other):
        return self._new(bytes(self._bits) + self._read(other))

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, times):
        return self._new(bytes(self._bits) * times)

    __rmul__ = __mul__

    def __imul__(self, times):
        self._bits *= times
        return self

    def __invert__(self):
        return self._new(1 - bit for bit in self._bits)

    def _pairwise(self, other, operation):
        if not isinstance(other, bitarray):
            return NotImplemented
        if len(self) != len(other):
            raise ValueError("bitarrays of equal length expected")
        return self._new(operation(a, b) for a, b in zip(self._bits, other._bits))

    def __and__(self, other):
        return self._pairwise(other, lambda a, b: a & b)

    def __or__(self, other):
        return self._pairwise(other, lambda a, b: a | b)

    def __xor__(self, other):
        return self._pairwise(other, lambda a, b: a ^ b)

    def __lshift__(self, count):
        if count < 0:
            raise ValueError("negative shift count")
        count = min(count, len(self))
        return self._new(bytes(self._bits[count:]) + bytes(count))

    def __rshift__(self, count):
        if count < 0:
            raise ValueError("negative shift count")
        count = min(count, len(self))
        return self._new(bytes(count) + bytes(self._bits[: len(self) - count]))

    def __iand__(self, other):
        self._bits = (self & other)._bits
        return self

    def __ior__(self, other):
        self._bits = (self | other)._bits
        return self

    def __ixor__(self, other):
        self._bits = (self ^ other)._bits
        return self

    def __ilshift__(self, count):
        self._bits = (self << count)._bits
        return self

    def __irshift__(self, count):
        self._bits = (self >> count)._bits
        return self

    def __eq__(self, other):
        return self._bits == other._bits if isinstance(other, bitarray) else NotImplemented

    def __lt__(self, other):
        return self._bits < other._bits if isinstance(other, bitarray) else NotImplemented

    def __le__(self, other):
        return self._bits <= other._bits if isinstance(other, bitarray) else NotImplemented

    def __gt__(self, other):
        return self._bits > other._bits if isinstance(other, bitarray) else NotImplemented

    def __ge__(self, other):
        return self._bits >= other._bits if isinstance(other, bitarray) else NotImplemented

    __hash__ = None

    def __repr__(self):
        return f"{type(self).__name__}({repr(self.to01()) if self._bits else ''})"


def _rebuild(kind, bits, endian):
    return kind(bits, endian)


class frozenbitarray(bitarray):
    """A bitarray that can't be changed, and can be hashed."""

    def __hash__(self):
        return hash((len(self), self.to01()))

    def _frozen(self, *args, **kwargs):
        raise TypeError("frozenbitarray is immutable")

    append = insert = pop = remove = clear = reverse = setall = invert = fill = sort = pack = _frozen
    __setitem__ = __delitem__ = __imul__ = __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _frozen

    def extend(self, iterable, /):
        if self._bits:
            self._frozen()
        super().extend(iterable)

    def __iadd__(self, other):
        return self + other
