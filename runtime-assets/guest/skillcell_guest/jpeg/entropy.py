"""From symbols to bytes: Huffman codes, given or the best for the symbols at hand."""

import numpy

from skillcell_guest.jpeg.symbols import RAW
from skillcell_guest.jpeg.tables import Huffman

_LONGEST = 32


class Packer:
    """Puts words one after the other. `codes`: for each base of symbols (0, 256, 512, 768), its Huffman code."""

    def __init__(self, codes):
        self._words, self._lengths = numpy.zeros(RAW + 1, numpy.int64), numpy.zeros(RAW + 1, numpy.int64)
        for base, code in codes.items():
            self._words[base : base + 256], self._lengths[base : base + 256] = code.for_writing()
        self._pieces, self._bits, self._last = [], 0, 0

    def put(self, symbols):
        length = self._lengths[symbols.symbol] + symbols.size
        word = self._words[symbols.symbol] << symbols.size | symbols.extra
        end = numpy.cumsum(length) + self._bits
        start = end - length
        # A word touches at most five bytes.
        word <<= 40 - length - (start & 7)
        count = int(end[-1] + 7 >> 3) + 5
        out = numpy.zeros(count)
        for byte in range(5):
            out += numpy.bincount((start >> 3) + byte, word >> (32 - 8 * byte) & 255, count)
        out = out.astype(numpy.uint8)
        out[0] |= self._last
        whole, self._bits = divmod(int(end[-1]), 8)
        self._pieces.append(out[:whole].tobytes())
        self._last = int(out[whole])

    def finish(self):
        """All bytes; the last is filled up with ones, and 0 stuffed after each 0xFF."""
        if self._bits:
            self._pieces.append(bytes([self._last | 0xFF >> self._bits]))
        data = b"".join(self._pieces)
        self._pieces, self._bits, self._last = [], 0, 0
        return data.replace(b"\xff", b"\xff\x00")


def best_code(counts):
    """The code with the shortest file, of words up to 16 bits, none of which is all ones: libjpeg's choice."""
    # With a symbol that never comes, which gets the word of all ones.
    symbols = [symbol for symbol, count in enumerate(counts) if count] + [256]
    weights = [int(counts[symbol]) for symbol in symbols[:-1]] + [1]
    sizes, branches = [0] * len(symbols), [[at] for at in range(len(symbols))]
    left = set(range(len(symbols)))
    while len(left) > 1:
        # Of equals, the later one.
        least, next_least = sorted(left, key=lambda at: (weights[at], -at))[:2]
        weights[least] += weights[next_least]
        branches[least] += branches[next_least]
        left.discard(next_least)
        for at in branches[least]:
            sizes[at] += 1
    lengths = [0] * (_LONGEST + 1)
    for size in sizes:
        lengths[size] += 1
    order = sorted(range(len(symbols) - 1), key=lambda at: (sizes[at], at))
    return Huffman(bytes(_no_longer_than_16(lengths)), bytes(symbols[at] for at in order))


def _no_longer_than_16(lengths):
    """How many words there are of each length, after annex K.3 of the standard."""
    for size in range(_LONGEST, 16, -1):
        while lengths[size] > 0:
            shorter = size - 2
            while lengths[shorter] == 0:
                shorter -= 1
            lengths[size] -= 2
            lengths[size - 1] += 1
            lengths[shorter + 1] += 2
            lengths[shorter] -= 1
    longest = max(size for size in range(17) if lengths[size])
    lengths[longest] -= 1
    return lengths[1:17]
